#pragma once

#include <string>
#include <vector>

#include "tests/tidy/tree.h"

// The rules of the tree (docs/DESIGN.md) as functions: a tree in, complaints out, one line each:
// "core/model/cause.h:7: ...". An empty list means that the rule holds.

namespace muster::tidy {

using Complaints = std::vector<std::string>;

// Includes follow the ranks of the folders; siblings of core/ and edge/ do not know each other.
Complaints check_ranks(const Tree& tree);
// core/ and base/ have no clock, file, socket, thread, environment or log.
Complaints check_purity(const Tree& tree);
// A library's header only in the folder that owns it, and never in a header of ours.
Complaints check_third_party(const Tree& tree);
// Every .cc is named in a CMakeLists.txt above it.
Complaints check_registered(const Tree& tree);
// Every header is included by somebody, says #pragma once, and has no twin in its folder.
Complaints check_headers(const Tree& tree);
// No function over 70 lines, no line over 100 columns.
Complaints check_lengths(const Tree& tree);
// No notes to ourselves, no paths of somebody's home folder, no tabs or blanks at the end of lines.
Complaints check_leftovers(const Tree& tree);
// Every document begins with a title.
Complaints check_documents(const Tree& tree);

}  // namespace muster::tidy
