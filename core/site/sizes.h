#pragma once

#include <optional>
#include <string_view>

namespace muster {

// "3.5T", "64M", "512", "1.2Gi", "16 KiB", "8GB" -> bytes. A letter alone and "iB" count by 1024,
// "KB" to "EB" and "kB" by 1000. Negative numbers and other letters are nothing.
std::optional<double> read_size(std::string_view text);

// How far the printed number may be off: 0.1 T for "3.5T", 1 M for "64M", 1 for "512".
double size_grain(std::string_view text);

}  // namespace muster
