#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "edge/os/files.h"

// Tables of columns (Parquet; Arrow's file and stream formats, as Hugging Face's caches have them)
// through Apache Arrow C++, where it was there at build time: -DMUSTER_ARROW=DIR, a folder with
// include/arrow and libarrow.so, such as the one of the pyarrow wheel. A program of its own reads
// them, muster-columns, which lies beside this one or is named by $MUSTER_COLUMNS (table_rows.h
// says why).

namespace muster {

// The first bytes of such a table: 8 are enough.
bool looks_like_columns(std::string_view head);

// The rows of the file `path` as JSON lines, one a row, for whoever reads JSON lines: an object
// with the column `field`, or, where it is empty, with "messages", "tools" and "text" as far as
// there are such columns. A null is left out. Texts, lists, structs, numbers and flags become what
// they are in JSON; anything else in a row becomes true.
//
// Errc::unsupported: built without Arrow; no column of that name, or one that is neither text nor a
// list of structs, nor a dictionary of texts; a table of indices, or one in a folder whose
// state.json names some: its rows are not in the order of the data set (flatten_indices() makes a
// table that is). Errc::corrupt from read() where the table is damaged, or a stream has no end
// mark, after all rows before that place.
//
// Memory, of the other program: a batch of rows (Parquet: 1024 of them, in buffered streams; Arrow:
// as it was written).
Result<std::unique_ptr<ByteStream>> open_columns(Files& files, const std::string& path,
                                                 const std::string& field);

}  // namespace muster
