#include "edge/columns/column_stream.h"

namespace muster {

bool looks_like_columns(std::string_view head) {
  return head.starts_with("PAR1") || head.starts_with("ARROW1") ||
         head.starts_with("\xFF\xFF\xFF\xFF");
}

}  // namespace muster
