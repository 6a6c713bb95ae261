#pragma once

#include "core/site/site_text.h"

namespace muster {

// What package managers changed:
//
//   Start-Date: 2025-07-01  06:50:54                                     apt's history.log
//   Commandline: /usr/bin/unattended-upgrade
//   Upgrade: libnvidia-compute-550:amd64 (550.127.08-0u1, 550.144.03-0u1), b:amd64 (1, 2)
//   2025-07-01 06:50:54 upgrade libnvidia-compute-550:amd64 550.127.08-0u1 550.144.03-0u1 dpkg.log
//   2025-07-01T06:50:54Z SUBDEBUG Upgrade: nvidia-driver-3:550.144.03-1.el9.x86_64 dnf.rpm.log Jul
//   01 06:50:54 Updated: 3:nvidia-driver-550.144.03-1.el7.x86_64                        yum.log
//
// Names have no architecture. Installations have no `from`, removals no `to`.
void read_packages(SiteText& text);

}  // namespace muster
