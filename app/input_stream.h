#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "edge/os/files.h"

namespace muster {

// The text behind `path` whatever it lies in: compressed text is decompressed
// (edge/os/zstd_stream.h), UTF-16 with a byte order mark becomes UTF-8. Once `stop` is
// requested the stream is at its end, also while it waits for a pipe. `name` stands in errors.
Result<std::unique_ptr<ByteStream>> open_text(Files& files, const std::string& path,
                                              const std::string& name, std::stop_token stop);

}  // namespace muster
