#pragma once

#include "core/site/site_text.h"

namespace muster {

// df, of coreutils and busybox, with -h, -H, -k, -m, -B, -T, -i and in any mixture of blocks:
//
//   Filesystem     [Type]  1K-blocks|1024-blocks|1M-blocks|1G-blocks|1GB-blocks|Size|Inodes  Used
//   ... /dev/nvme0n1   [ext4]  3576      214   3362   6% /local a-long-device-name
//                  3576    214   3362   6% /local        a name that did not fit
//
// Blocks of "1K" count 1024 bytes, of "1kB" and "1KB" 1000; "-" is absent. df rounds up, and -h to
// one digit behind the point below ten: `block_bytes` is how far a number may be off.
void read_disks(SiteText& text);

}  // namespace muster
