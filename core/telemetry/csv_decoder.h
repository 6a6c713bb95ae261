#pragma once

#include <memory>
#include <string_view>

#include "core/telemetry/decoder.h"

namespace muster {

// nvidia-smi --query-gpu ... --format=csv in all its variants, and tables of people's own making.
//
// Columns are bound by the heading, and bound again where another heading stands in the middle.
// Cells may carry units or not. Rows without any GPU column are numbered by the repetition of their
// time (rows of one tick lie less than 50 ms apart), which a note tells once; without a time they
// are numbered in their order, up to the 16 GPUs of a host. Two columns of one metric (power.draw
// and power.draw.average) are one reading: the first that has a value. Rows with another number of
// cells than the heading, and a torn last line, are lost with a note. Lost-GPU lines and other
// texts of the tool between the rows become notes. Times have no zone unless one is written;
// numbers in a time column are seconds, ms, us or ns by the name of the column, else by their size.
//
// A last line without a newline is kept where its last cell looks whole beside the row before.
//
// Wide tables ("rank0_util,rank0_w,others_util_min,others_w_mean") give one row for each series:
// rank N, and "others" as a series of its own (SeriesKey::device), which stands for the rest.
// Tables of hosts with nothing but watts are whole nodes (SeriesKind::node, node_power_w); tables
// of ranks without hosts or GPUs are tasks. A "rack" column gives SeriesKey::group "rack=7".
bool looks_like_nvsmi_csv(std::string_view head);
bool looks_like_table_csv(std::string_view head);
std::unique_ptr<Decoder> make_csv_decoder(const DecoderOptions& options);

}  // namespace muster
