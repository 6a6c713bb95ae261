#include "core/explain/identity.h"

#include <gtest/gtest.h>

#include "base/limits.h"
#include "core/explain/explain_test_kit.h"

namespace muster {
namespace {

TEST(Identity, NamesAreComparedNotSpelled) {
  EXPECT_EQ(host_key("N012.cluster.local"), "n012");
  EXPECT_EQ(host_key("10.77.1.2"), "10.77.1.2");
  EXPECT_EQ(host_key("fe80::1"), "fe80::1");
  EXPECT_EQ(host_key(""), "");
  for (const auto& [text, key] :
       std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                        {"3", ""},
                                                        {"GPU-7e57a36f", ""},
                                                        {"0000:3b", ""},
                                                        {"0000:3b:00.0.1", ""},
                                                        {"0000:3b:0g.0", ""},
                                                        {"zz:00.0", ""},
                                                        {"PCI:0000:3B:00", "0000:3b:00.0"},
                                                        {"3b:00.0", "0000:3b:00.0"},
                                                        {"00000000:3B:00.0", "0000:3b:00.0"},
                                                        {"0008:01:00", "0008:01:00.0"},
                                                        {"0000:00:03.1", "0000:00:03.1"}}) {
    EXPECT_EQ(pci_key(text), key) << text;
  }
  for (const auto& [text, address] :
       std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                        {"[", ""},
                                                        {"10.0.0.7<43122>", "10.0.0.7"},
                                                        {"10.0.0.7:43122", "10.0.0.7"},
                                                        {"[fe80::1]:43122", "fe80::1"},
                                                        {"fe80::1", "fe80::1"},
                                                        {"n012-ib0<5>", "n012-ib0"}}) {
    EXPECT_EQ(address_of(text), address) << text;
  }
}

TEST(Identity, ContradictionsTellNothing) {
  Pile p;
  p.fact(RankPlace{0, 7, "n1", ""});
  p.fact(RankPlace{4, 4, "n2", ""});
  p.fact(HostAddress{"10.0.0.1", "n1"});
  p.fact(HostAddress{"10.0.0.1", "n2"});
  p.cascade().rank(1).host("n1").pid(500);
  p.cascade().rank(2).host("n1").pid(500);
  p.cascade().rank(3).host("n1").pid(501);
  p.cascade().rank(3).host("n2").pid(502).word("pci", "0000:3b:00");
  const Identity who(p.input);
  EXPECT_EQ(who.host_of_rank(0), "n1");
  EXPECT_EQ(who.host_of_rank(4), "");
  EXPECT_EQ(who.host_of_rank(3), "");
  EXPECT_EQ(who.host_of_rank(99), "");
  EXPECT_EQ(who.host_of_peer("10.0.0.1<99>"), "");
  EXPECT_EQ(who.host_of_peer("n1-ib0-2<99>"), "n1");
  EXPECT_EQ(who.host_of_peer("n17"), "");
  EXPECT_EQ(who.rank_of_process("n1", 501), 3);
  EXPECT_EQ(who.rank_of_process("n9", 501), std::nullopt);
  EXPECT_EQ(who.rank_of_process("", 502), 3);
}

TEST(Identity, WhatRanksAndPlacesTellOfTheSize) {
  Pile whole, part, hostile;
  whole.fact(RankPlace{0, 15, "n1", ""});
  EXPECT_EQ(Identity(whole.input).world(), 16);
  part.fact(RankPlace{16, 23, "n3", ""});
  EXPECT_EQ(Identity(part.input).world(), std::nullopt);
  for (int i = 0; i < 100; ++i) hostile.fact(RankPlace{-5, 2'000'000'000, "n3", ""});
  hostile.fact(Setting{"WORLD_SIZE", "-3"});
  hostile.cascade().rank(-7);
  EXPECT_LE(Identity(hostile.input).world().value_or(0), limits::kRanks + 1);
}

TEST(Identity, OnePidOfTwoRanksIsNobodys) {
  ExplainInput input;
  for (const std::int32_t rank : {2, 5}) {
    LogEvent event;
    event.rank = rank;
    event.pid = 77;
    input.events.push_back(event);
  }
  EXPECT_EQ(Identity(input).rank_of_process("", 77), std::nullopt);
}

}  // namespace
}  // namespace muster
