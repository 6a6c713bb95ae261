#pragma once

#include "core/site/site_text.h"

namespace muster {

// The addresses of RDMA ports:
//
//   DEV  PORT  INDEX  GID                                      IPv4         VER  DEV     show_gids
//   mlx5_0  1  3      0000:0000:0000:0000:0000:ffff:0a4d:0106  10.77.1.6    v2   eth2
//
//   hca_id: mlx5_0                                                          ibv_devinfo -v
//       port:   1
//           GID[  3]:   ::ffff:10.77.1.6, RoCE v2
void read_gids(SiteText& text);

}  // namespace muster
