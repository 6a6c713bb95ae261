#pragma once

#include "core/site/site_text.h"

namespace muster {

// Jobs of Slurm:
//
//   JobID|State|ExitCode|Elapsed|NodeList     sacct -P, any columns, '|' or another mark between
//   JobID           State  ExitCode           sacct: widths by the dashes below, "+" where cut
//   ------------ -------- --------
//   JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)              squeue, also -l and -o
//   JobId=551 JobName=a ... JobState=RUNNING ExitCode=0:0 ...             scontrol show job
//
// Times are local to the site; "Unknown", "N/A" and "None" are absent, so is "UNLIMITED" as a
// limit. Hosts are written out, at most limits::kSiteHosts.
void read_jobs(SiteText& text);

}  // namespace muster
