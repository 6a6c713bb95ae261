#pragma once

#include "core/site/site_text.h"

namespace muster {

// Nodes of Slurm and Kubernetes:
//
//   NodeName=n07 ... State=IDLE+DRAIN ... Reason=Kill task failed [root@2026-04-09T05:17:42]
//   REASON               USER  TIMESTAMP  NODELIST                        sinfo -R
//   PARTITION AVAIL TIMELIMIT NODES STATE NODELIST                        sinfo, -N, -l
//   NAME  STATUS  ROLES  AGE  VERSION                                     kubectl get nodes
void read_nodes(SiteText& text);

}  // namespace muster
