#pragma once

#include <string>
#include <string_view>

#include "core/blocks/plan_facts.h"

namespace muster::blocks {

// Reads a planning text, known by what it holds, whatever its name:
//
//   block=2048 dtype=int32 micro_batch=1    settings: NAME=VALUE, several in a line; also
//   batch_size: 16                          "name = value", "name: value", "--name value" and one
//   {"batch_size": 16}                      JSON object, nested ones by the name of the last level
//
//   rank   file              bytes          a table: a heading with a rank and a quantity (bytes,
//   0      cache/rank00.i32  252715008      samples, blocks, tokens, batches, steps), then a line a
//                                           rank; between them tabs, commas, semicolons, bars or
//                                           blanks
//
//   rank 0: 49 samples                      lines of one rank each, the word and its number in
//   front; rank=1 files=47 samples=47              quantities as a name and a number or the other
//   way round;
//   {"rank": 2, "samples": 47}              objects, one a line or in an array
//
// Lines that begin with '#', ';' or "//" and headings in brackets are passed over. True where it is
// one: a settings text names at least one setting of PlanRole, and two thirds of its lines or more
// are settings.
// Numbers are whole, below 2^63, digits in groups of three with ',' or '_' between them or without.
// Any bytes; bounded by limits::kSettings and limits::kRanks.
bool read_plan(const std::string& source, std::string_view bytes, PlanFacts& out);

}  // namespace muster::blocks
