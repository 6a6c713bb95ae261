// muster-columns FILE [FIELD]: rows of a table in frames (column_frames.h), for muster, which
// starts it. A program of its own, so that what Arrow's libraries bring along meets nothing of
// ours, and what a hostile file does to a parser happens to no more than this.

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "edge/columns/column_frames.h"
#include "edge/columns/table_rows.h"

namespace {

using muster::ColumnFrame;

// False where nobody listens any more.
bool say(ColumnFrame kind, std::string_view bytes) {
  std::string all = muster::frame_head(kind, bytes.size());
  all += bytes;
  for (std::string_view left = all; !left.empty();) {
    const ssize_t n = ::write(STDOUT_FILENO, left.data(), left.size());
    if (n <= 0) return false;
    left.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

int refuse(const muster::Error& error) {
  const bool unsupported = error.code == muster::Errc::unsupported;
  const std::string why = error.context.substr(0, 4096);
  say(unsupported ? ColumnFrame::unsupported : ColumnFrame::corrupt, why);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 64;
  const std::string path = argv[1];
  std::string head(8, '\0');
  std::ifstream(path, std::ios::binary)
      .read(head.data(), static_cast<std::streamsize>(head.size()));
  auto rows = muster::TableRows::open(path, head, argc > 2 ? argv[2] : "");
  if (!rows) return refuse(rows.error());
  if (!say(ColumnFrame::opened, "")) return 1;
  std::string lines;
  for (;;) {
    const auto more = rows->next(lines);
    if (!more) return refuse(more.error());
    if (!*more) return say(ColumnFrame::end, "") ? 0 : 1;
    for (std::string_view left = lines; !left.empty();) {
      const std::string_view part = left.substr(0, muster::kFrameBytes);
      if (!say(ColumnFrame::rows, part)) return 1;
      left.remove_prefix(part.size());
    }
  }
}
