#include "edge/columns/column_stream.h"

namespace muster {

Result<std::unique_ptr<ByteStream>> open_columns(Files&, const std::string&, const std::string&) {
  return make_error(Errc::unsupported,
                    "this is a table of Parquet or Arrow, and this program was built without it: "
                    "cmake -DMUSTER_ARROW=DIR takes the folder of the pyarrow wheel");
}

}  // namespace muster
