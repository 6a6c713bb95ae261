#pragma once

#include "core/site/site_text.h"

namespace muster {

// Who listens on a TCP port:
//
//   State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process     ss -ltnp, also -a
//   LISTEN 0      2048               *:29517            *:*     users:(("torchrun",pid=77,fd=3))
//   tcp    0  0  0.0.0.0:29517  0.0.0.0:*  LISTEN  77/python               netstat -ltnp
//   COMMAND PID USER FD TYPE DEVICE SIZE/OFF NODE NAME                     lsof -i
//   python  77  me   3u IPv4 4711   0t0      TCP  *:29517 (LISTEN)
//   29517/tcp:            77                                               fuser 29517/tcp
void read_listeners(SiteText& text);

}  // namespace muster
