#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "edge/storage/disk.h"

namespace muster::storage {

// What is left free on a file system at least, after a file of our own was made: another program
// that finds it full fails.
std::uint64_t reserve_bytes(std::uint64_t file_system_bytes);

// Disk::make() of real files.
Result<std::shared_ptr<ReadTarget>> make_own_file(const std::string& folder, std::uint64_t bytes,
                                                  std::stop_token stop,
                                                  const Disk::Progress& progress);

// Bytes without a pattern: no device or file system stores them in less. Other bytes for each
// `block`.
void fill_incompressible(std::span<std::uint64_t> words, std::uint64_t block);

}  // namespace muster::storage
