#pragma once

#include "core/site/site_text.h"

namespace muster {

// What package managers changed:
//
//   Start-Date: 2026-02-03  04:41:09
//   Commandline: /usr/bin/unattended-upgrade
//   Upgrade: libnvidia-compute-535:amd64 (535.183.06-0u1, 535.216.03-0u1), b:amd64 (1, 2)
//   2026-02-03 04:41:09 upgrade libnvidia-compute-535:amd64 535.183.06-0u1 535.216.03-0u1
//   2026-02-03T04:41:09Z SUBDEBUG Upgrade: nvidia-driver-3:535.216.03-1.el9.x86_64
//   Feb 03 04:41:09 Updated: 3:nvidia-driver-535.216.03-1.el7.x86_64
//
// The first three are of apt's history.log, the others of dpkg.log, dnf.rpm.log and yum.log.
// Names have no architecture. Installations have no `from`, removals no `to`.
void read_packages(SiteText& text);

}  // namespace muster
