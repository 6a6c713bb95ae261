#pragma once

#include <functional>
#include <memory>
#include <string>

#include "edge/os/files.h"

namespace muster {

// The text in `stream` whatever it lies in: compressed text is decompressed
// (edge/os/zstd_stream.h), UTF-16 with a byte order mark becomes UTF-8. Once `over` says so
// the stream is at its end, also while it waits for a pipe. `name` stands in errors.
Result<std::unique_ptr<ByteStream>> text_of(std::unique_ptr<ByteStream> stream,
                                            const std::string& name, std::function<bool()> over);

// Waits for the first bytes of a pipe: Errc::timeout where none come for limits::kPipePatience, as
// nobody may ever write into it. "-" may take its time, whoever gave it is still there.
Status wait_for_pipe(ByteStream& stream, const std::string& path);

}  // namespace muster
