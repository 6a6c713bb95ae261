#pragma once

#include <memory>
#include <string>

#include "edge/os/files.h"

namespace muster {

class UnpackedStream : public ByteStream {
 public:
  // Whether the file ended inside of a frame; known once read() has given its last byte.
  virtual bool cut() const = 0;
};

// The bytes of `stream`, decompressed where its first bytes say that it is zstd or gzip, and as
// they are otherwise. `name` stands in errors.
//
// Memory is bounded whatever the input claims: the window of zstd is limited to 128 MiB and output
// is handed on as it comes (a decompression bomb is a long stream, not a large buffer). A file that
// ends in the middle of a frame - its writer was killed - ends there, without an error; cut() tells
// of it. A damaged
// frame of zstd is skipped, a newline stands in its place, and the next frame is read on; the
// damage is Errc::corrupt at the end of the stream, after everything that could be saved. Frames of
// up to 4 MiB are handed on only when their checksum has been seen.
//
// Reads the first bytes at once: fails where the stream does.
Result<std::unique_ptr<UnpackedStream>> decompressed(std::unique_ptr<ByteStream> stream,
                                                     std::string name);

}  // namespace muster
