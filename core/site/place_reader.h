#pragma once

#include "core/site/site_text.h"

namespace muster {

// Who is where, as /etc/hosts and people's notes have it; '#' begins a comment:
//
//   10.0.0.1 n05 n05-ib                       address and its names
//   10.0.0.1 n05 (ranks 40-47)                with the ranks there
//   ranks 16-23 -> n3 (rank 18 -> PCI 0002:00:00)
//   rank 18: n3 gpu 2 PCI 0002:00:00          a GPU of one rank
//   3 n01    3: n01    rank 3 on n01    3,n01
//   n01: 0-7,16        n01 ranks 0-7          n01 -> 0-7
//
// A host has a letter or is an address. A document of places holds nothing else.
void read_places(SiteText& text);

}  // namespace muster
