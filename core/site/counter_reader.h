#pragma once

#include "core/site/site_text.h"

namespace muster {

// Counters of an adapter's port at two times:
//
//   # before -> after, mlx5_2 port 1                  a heading with "DEVICE port N" or DEVICE/N,
//   # host n07 (rank 1) mlx5_2 before after           and maybe the host
//   symbol_error 0 -> 4                               also "symbol_error: 0 -> 4"
//
//   counter  before  after                            a table
//   symbol_error  0  4
//
//   # Port counters: Lid 6 port 1 (CapMask: 0x5A00)   perfquery, twice for one port
//   SymbolErrorCounter:..............0
//
//   link mlx5_2/1 rx_write_requests 0 out_of_sequence 4 ...     rdma statistic show, twice
//
// One reading alone says nothing of growth and gives no fact.
void read_counters(SiteText& text);

}  // namespace muster
