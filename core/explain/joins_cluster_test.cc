#include <gtest/gtest.h>

#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

Line complaint(Pile& p, std::string rule, std::string text, Cause cause = undetermined) {
  Line made = p.line(std::move(rule), cause, EventRole::root, std::move(text));
  made.severity(Severity::critical);
  return made;
}
Line back_off(Pile& p,
              std::string text = "Back-off restarting failed container a in pod run-0_ml") {
  return complaint(p, "k8s_back_off", std::move(text));
}
Line told(Pile& p, std::string rule, std::string text = "Started container a") {
  return p.line(std::move(rule), undetermined, EventRole::context, std::move(text));
}

TEST(ClusterJoins, WhatIsNotOver) {
  run({
      {"nothing behind it", [](Pile& p) { back_off(p); }, "undetermined", ""},
      {"it ran before",
       [](Pile& p) {
         told(p, "k8s_started").at(5);
         back_off(p).at(20);
       },
       "undetermined", ""},
      {"begun once more, and ended again",
       [](Pile& p) {
         back_off(p).at(5);
         told(p, "k8s_started").at(9);
         back_off(p).at(20);
       },
       "undetermined", ""},
      {"another pod runs",
       [](Pile& p) {
         back_off(p);
         told(p, "k8s_running", "run-1  1/1  Running").word("pod", "run-1");
       },
       "undetermined", ""},
      {"by its age it ran before, whatever the order of the lines is",
       [](Pile& p) {
         back_off(p, "2m Warning BackOff pod/run-0 Back-off restarting");
         told(p, "k8s_running", "9m Normal Running pod/run-0").word("pod", "run-0");
       },
       "undetermined", ""},
      {"an image does not mount a volume",
       [](Pile& p) {
         complaint(p, "k8s_mount_failed", "MountVolume failed");
         told(p, "k8s_pulled", "Successfully pulled image");
       },
       "undetermined", ""},
      {"one of two pods",
       [](Pile& p) {
         complaint(p, "k8s_image_back_off", "a").word("pod", "run-0");
         complaint(p, "k8s_image_back_off", "b").word("pod", "run-1");
         told(p, "k8s_running", "run-1").word("pod", "run-1");
       },
       "undetermined", ""},
      {"a node came back, its pods were moved",
       [](Pile& p) {
         complaint(p, "k8s_node_not_ready", "not ready", node_failure)
             .host("n1")
             .word("host", "n1");
         p.line("k8s_taint_eviction", node_failure, EventRole::confirmation, "deletion");
         told(p, "k8s_node_ready").host("n1").word("host", "n1");
       },
       "node_failure", "", kCritical, kMedium, kHigh},
      {"begun once more",
       [](Pile& p) {
         back_off(p);
         told(p, "k8s_started");
       },
       "undetermined", "", kWarning, kLow, kLow},
  });
}

TEST(ClusterJoins, WhatIsOver) {
  const auto behind = [](std::string rule, std::string healing) {
    return [rule, healing](Pile& p) {
      complaint(p, rule, "it failed");
      told(p, healing);
    };
  };
  run({
      {"pulled later", behind("k8s_image_retried", "k8s_pulled"), "undetermined", "", kInfo},
      {"started later", behind("k8s_image", "k8s_started"), "undetermined", "", kInfo},
      {"mounted later", behind("k8s_mount_failed", "k8s_mounted"), "undetermined", "", kInfo},
      {"a sandbox", behind("k8s_sandbox_failed", "k8s_started"), "undetermined", "", kInfo},
      {"it runs", behind("k8s_crash_loop", "k8s_running"), "undetermined", "", kInfo},
      {"younger by its age",
       [](Pile& p) {
         told(p, "k8s_pulled", "90s Normal Pulled pod/run-0 Successfully pulled image");
         complaint(p, "k8s_image_retried", "5m12s Normal BackOff pod/run-0 Back-off pulling");
       },
       "undetermined", "", kInfo},
      {"a node came back",
       [](Pile& p) {
         complaint(p, "k8s_node_not_ready", "not ready", node_failure)
             .host("n1")
             .word("host", "n1");
         told(p, "k8s_node_ready").host("n1").word("host", "n1");
       },
       "undetermined", "", kInfo},
      {"begun once more, and steps behind it",
       [](Pile& p) {
         back_off(p).at(5);
         told(p, "k8s_started").at(9);
         p.context("last_step").at(900).word("step", "80");
       },
       "undetermined", "", kInfo, kLow, kMedium},
  });
}

}  // namespace
}  // namespace muster
