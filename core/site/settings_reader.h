#pragma once

#include "core/site/site_text.h"

namespace muster {

// Settings, one a line or several; lines that begin with '#' or ';' are comments:
//
//   NCCL_IB_HCA=mlx5_0            env, with or without "export " or "declare -x " in front
//   dir=/ckpt size_gb=62          plans: several in a line, where all words have a '='
//   largest id in data.bin=4711   notes: words before the only '='
//   [section]                     .ini, .cfg, .toml
//   key = value
//   key: value                    .yaml, by the name of the file alone
//
// A document of settings holds nothing else.
void read_settings(SiteText& text);

// A job script: "#!" in front or "#SBATCH" somewhere.
//
//   #SBATCH --nodes=2  -N 2       name "nodes", "N"
//   export NAME=VALUE  NAME=VALUE
//   srun --kill-on-bad-exit=1 torchrun --max_restarts 0 ...    options of launchers: their names
//                                                              without dashes
//
// All lines are claimed: the rest of a script tells nothing.
void read_job_script(SiteText& text);

}  // namespace muster
