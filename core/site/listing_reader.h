#pragma once

#include "core/site/site_text.h"

namespace muster {

// Listings of folders:
//
//   /ckpt/run7:                                                         ls -l, -la, -lR, -ln, -lh
//   total 12
//   drwxr-xr-x 2 me me 4096 Jul 20 03:12 step_40
//   lrwxrwxrwx 1 me me    7 2026-07-20 03:12 latest -> step_40
//   1234  8 -rw-r--r-- 1 me me 4096 Jul 20 03:12 /ckpt/run7/a.pt        find -ls, ls -lis
//   4096  /ckpt/run7/a.pt                                               find -printf '%s %p\n', du
//   -b
//
// Sizes of -h are not exact and left out. "." and ".." are passed over.
void read_listing(SiteText& text);

}  // namespace muster
