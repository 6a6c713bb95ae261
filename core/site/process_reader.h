#pragma once

#include "core/site/site_text.h"

namespace muster {

// Tables of processes: ps aux, ps -ef, ps -o of any columns with PID and a command, and top -b. The
// heading tells the columns; the command is the last one and may hold blanks.
//
//   PID STAT WCHAN                  COMMAND
//   4711 Dl   rpc_wait_bit_killable python train.py
void read_processes(SiteText& text);

}  // namespace muster
