#pragma once

#include <memory>
#include <string_view>

#include "core/telemetry/decoder.h"

namespace muster {

// nvidia-smi dmon and pmon: tables that scroll, with two heading lines that begin with "#" and come
// again and again. Columns are bound by their names, never by position; "-" is not reported.
//
// Keys: the GPU index, nothing else. Times are those of `-o DT` (no zone); with `-o T` the date is
// missing: rows then count from 1970-01-01, a day is added at midnight, and a note says so. Without
// -o rows carry no time at all.
//
// dmon: one row for each line. "mem" is the use of the memory controller; "fb" the memory in use,
// in MiB although the heading says MB. pmon: the processes of one GPU at one tick fold into one
// row: utilization is the greatest "sm" (a GPU whose processes all show "-" has no utilization, not
// 0), memory the sum of "fb" where asked. A tick of a GPU ends where another GPU, another time, a
// heading or a process seen before follows.
bool looks_like_dmon(std::string_view head);
bool looks_like_pmon(std::string_view head);
std::unique_ptr<Decoder> make_dmon_decoder(const DecoderOptions& options);
std::unique_ptr<Decoder> make_pmon_decoder(const DecoderOptions& options);

}  // namespace muster
