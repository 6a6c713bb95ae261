#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

void gid(Pile& p, int index, std::string address, std::string type, std::string host = "") {
  GidEntry entry;
  entry.device = "mlx5_0";
  entry.index = index;
  entry.gid = std::move(address);
  entry.type = std::move(type);
  p.fact(entry, std::move(host));
}
void no_path(Pile& p) {
  p.root(no_route, "Call to ibv_modify_qp failed with error Connection timed out").host("n1");
}

TEST(NetworkJoins, GidIndex) {
  const auto set = [](Pile& p, std::string value) {
    p.fact(Setting{"NCCL_IB_GID_INDEX", std::move(value)});
  };
  const auto roce = [](Pile& p) {
    gid(p, 1, "fe80:0000:0000:0000:0ac0:ebff:fe11:2233", "v2");
    gid(p, 3, "0000:0000:0000:0000:0000:ffff:0a4d:d106", "v2");
  };
  run({
      {"no table",
       [=](Pile& p) {
         no_path(p);
         set(p, "1");
       },
       "no_route", ""},
      {"a routed address",
       [=](Pile& p) {
         no_path(p);
         set(p, "3");
         roce(p);
       },
       "no_route", ""},
      {"InfiniBand itself",
       [=](Pile& p) {
         no_path(p);
         set(p, "0");
         gid(p, 0, "fe80::1", "");
       },
       "no_route", ""},
      {"fine and no failure",
       [=](Pile& p) {
         set(p, "3");
         roce(p);
       },
       "", ""},
      {"link-local",
       [=](Pile& p) {
         no_path(p);
         set(p, "1");
         roce(p);
       },
       "no_route", "config:NCCL_IB_GID_INDEX", kCritical, kHigh},
      {"not there",
       [=](Pile& p) {
         no_path(p);
         set(p, "7");
         roce(p);
       },
       "no_route", "config:NCCL_IB_GID_INDEX", kCritical, kHigh},
      {"link-local, before any failure",
       [=](Pile& p) {
         set(p, "1");
         roce(p);
       },
       "no_route", "config:NCCL_IB_GID_INDEX", kCritical, kMedium, kMedium},
  });
}

TEST(NetworkJoins, SettingsOfHosts) {
  const auto sizes = [](Pile& p) {
    p.root(collective_mismatch, "local size 487424 remote size 65536")
        .host("n1")
        .word("local", "487424");
  };
  run({
      {"settings alone may differ",
       [](Pile& p) {
         p.fact(Setting{"NCCL_PROTO", "Simple"}, "n1");
         p.fact(Setting{"NCCL_ALGO", "Ring"}, "n2");
       },
       "", ""},
      {"no settings", [=](Pile& p) { sizes(p); }, "collective_mismatch", ""},
      {"settings agree",
       [=](Pile& p) {
         sizes(p);
         p.fact(Setting{"NCCL_PROTO", "Simple"}, "n1");
         p.fact(Setting{"NCCL_PROTO", "Simple"}, "n2");
       },
       "collective_mismatch", ""},
      {"what may differ",
       [=](Pile& p) {
         sizes(p);
         p.fact(Setting{"NCCL_SOCKET_IFNAME", "eth0"}, "n1");
         p.fact(Setting{"NCCL_SOCKET_IFNAME", "eth1"}, "n2");
       },
       "collective_mismatch", ""},
      {"missing on one",
       [=](Pile& p) {
         sizes(p);
         p.fact(Setting{"NCCL_PROTO", "Simple"}, "n1");
         p.fact(Setting{"NCCL_ALGO", "Ring"}, "n1");
         p.fact(Setting{"NCCL_ALGO", "Ring"}, "n2");
       },
       "nccl_env_mismatch", "config:NCCL_PROTO", kCritical, kMedium, kMedium},
      {"one that differs",
       [=](Pile& p) {
         sizes(p);
         p.fact(Setting{"NCCL_ALGO", "Ring"}, "n1");
         p.fact(Setting{"NCCL_ALGO", "Tree"}, "n2");
       },
       "nccl_env_mismatch", "config:NCCL_ALGO", kCritical, kHigh},
      {"two that differ",
       [=](Pile& p) {
         sizes(p);
         p.fact(Setting{"NCCL_PROTO", "Simple"}, "n1");
         p.fact(Setting{"NCCL_ALGO", "Ring"}, "n1");
         p.fact(Setting{"NCCL_ALGO", "Tree"}, "n2");
       },
       "nccl_env_mismatch", "config:NCCL_ALGO config:NCCL_PROTO", kCritical, kMedium, kMedium},
  });
}

void down(Pile& p, std::string host, double at, std::string device = "mlx5_3") {
  p.root(ib_link_faulty, "port error")
      .host(std::move(host))
      .word("device", std::move(device))
      .word("port", "1")
      .at(at);
}

TEST(NetworkJoins, PortsThatGoDown) {
  run({
      {"once, nothing follows", [](Pile& p) { down(p, "n2", 100); }, "ib_link_faulty",
       "port:n2/mlx5_3/1", kCritical, kLow, kLow},
      {"once, long before",
       [](Pile& p) {
         down(p, "n2", 100);
         p.cascade().host("n2").at(9000);
       },
       "ib_link_faulty", "port:n2/mlx5_3/1", kCritical, kLow, kLow},
      {"three hosts at once",
       [](Pile& p) {
         down(p, "n1", 100);
         down(p, "n2", 100);
         down(p, "n3", 100.4);
       },
       "ports_down_together", "", kCritical, kMedium, kMedium},
      {"once, then errors",
       [](Pile& p) {
         down(p, "n2", 100);
         p.cascade().host("n2").at(117);
       },
       "ib_link_faulty", "port:n2/mlx5_3/1", kCritical, kHigh},
      {"once, then errors of others",
       [](Pile& p) {
         down(p, "n2", 100);
         p.cascade().host("n6").at(117);
       },
       "ib_link_faulty", "port:n2/mlx5_3/1", kCritical, kLow, kLow},
      {"once, then others complain of it",
       [](Pile& p) {
         down(p, "n2", 100);
         p.cascade().host("n6").at(117).word("peer", "n2");
       },
       "ib_link_faulty", "port:n2/mlx5_3/1", kCritical, kHigh},
      {"two at once, then errors",
       [](Pile& p) {
         down(p, "n2", 100);
         down(p, "n6", 100);
         p.cascade().host("n2").at(117).word("peer", "n6");
       },
       "ib_link_faulty", "port:n2/mlx5_3/1 port:n6/mlx5_3/1", kCritical, kMedium, kMedium},
      {"twice",
       [](Pile& p) {
         down(p, "n2", 100);
         down(p, "n2", 500);
       },
       "ib_link_faulty", "port:n2/mlx5_3/1", kCritical, kHigh},
      {"twice, and another once",
       [](Pile& p) {
         down(p, "n2", 100);
         down(p, "n2", 500);
         down(p, "n5", 500);
       },
       "ib_link_faulty", "port:n2/mlx5_3/1", kCritical, kHigh},
  });
}

void lost_peer(Pile& p, std::string host, double at, std::string peer = "10.0.7.19<44311>") {
  p.cascade("Got completion from peer with status=12")
      .host(std::move(host))
      .at(at)
      .word("peer", std::move(peer));
}
void map_of_site(Pile& p) {
  p.fact(HostAddress{"10.0.7.19", "n5"});
  p.fact(RankPlace{40, 47, "n5", ""});
}
void counter(Pile& p, std::string name, double before, double after) {
  p.fact(PortCounter{"mlx5_2", 1, std::move(name), before, after}, "n5");
}

TEST(NetworkJoins, CountersThatSayNothing) {
  run({
      {"the other end has errors",
       [](Pile& p) {
         map_of_site(p);
         lost_peer(p, "n1", 60);
         counter(p, "port_rcv_remote_physical_errors", 0, 900);
       },
       "undetermined", "host:n5", kCritical, kLow, kLow},
      {"dead at about the time of the errors",
       [](Pile& p) {
         map_of_site(p);
         p.root(watchdog_stuck, "stuck for 480 seconds").rank(42).at(40);
         p.source = "a9.log";
         lost_peer(p, "n1", 57);
       },
       "watchdog_stuck", "rank:42", kCritical, kMedium, kMedium},
      {"a few bits that were mended",
       [](Pile& p) {
         map_of_site(p);
         lost_peer(p, "n1", 60);
         counter(p, "symbol_error", 4, 6);
       },
       "undetermined", "host:n5", kCritical, kLow, kLow},
  });
}

TEST(NetworkJoins, PeersThatAreNamed) {
  run({
      {"only errors",
       [](Pile& p) {
         map_of_site(p);
         lost_peer(p, "n1", 60);
         lost_peer(p, "n2", 60);
       },
       "undetermined", "host:n5", kCritical, kLow, kLow},
      {"two peers",
       [](Pile& p) {
         map_of_site(p);
         lost_peer(p, "n1", 60);
         lost_peer(p, "n2", 60, "n1");
       },
       "undetermined", "", kCritical, kLow, kLow},
      {"acknowledgements alone move",
       [](Pile& p) {
         map_of_site(p);
         lost_peer(p, "n1", 60);
         counter(p, "local_ack_timeout_err", 4, 90);
       },
       "undetermined", "host:n5", kCritical, kLow, kLow},
      {"its process was stuck before",
       [](Pile& p) {
         map_of_site(p);
         p.root(watchdog_stuck, "stuck for 480 seconds").rank(42).at(40);
         lost_peer(p, "n1", 57);
         lost_peer(p, "n2", 58);
         counter(p, "symbol_error", 0, 0);
         counter(p, "link_downed", 1, 1);
       },
       "watchdog_stuck", "rank:42", kCritical, kHigh},
      {"stuck before, and its link is bad",
       [](Pile& p) {
         map_of_site(p);
         p.root(watchdog_stuck, "stuck for 480 seconds").rank(42).at(40);
         lost_peer(p, "n1", 57);
         counter(p, "symbol_error", 0, 900);
       },
       "watchdog_stuck", "rank:42", kCritical, kMedium, kMedium},
      {"its link is bad",
       [](Pile& p) {
         map_of_site(p);
         lost_peer(p, "n1", 60);
         lost_peer(p, "n2", 60);
         counter(p, "symbol_error", 0, 900);
       },
       "ib_link_faulty", "port:n5/mlx5_2/1", kCritical, kMedium, kMedium},
      {"packets are lost",
       [](Pile& p) {
         map_of_site(p);
         lost_peer(p, "n1", 60);
         counter(p, "packet_seq_err", 0, 900);
       },
       "roce_packet_loss", "", kCritical, kMedium, kMedium},
      {"out of memory there",
       [](Pile& p) {
         p.root(gpu_oom, "Cuda failure 'out of memory'").host("n7").on(CulpritKind::gpu, "n7/3");
         lost_peer(p, "n7", 61, "n7-ib<51159>");
         lost_peer(p, "n8", 62, "n7-ib<51159>");
       },
       "gpu_oom", "gpu:n7/3", kCritical, kHigh},
  });
}

}  // namespace
}  // namespace muster
