#include "harness/case/hosts.hpp"

#include <set>

#include <gtest/gtest.h>

namespace rankcheck::harness {
namespace {

using Hosts = std::vector<int>;

TEST(HostsTest, AreNumberedInTheOrderInWhichTheyAppear) {
  EXPECT_EQ(numbered({7, 7, 3, 7, 5}), (Hosts{0, 0, 1, 0, 2}));
  EXPECT_EQ(numbered({4, 4}), Hosts());
  EXPECT_EQ(numbered({}), Hosts());
}

TEST(HostsTest, OneHostForEachRankIsValid) {
  EXPECT_EQ(why_hosts_invalid({}, 3), "");
  EXPECT_EQ(why_hosts_invalid({0, 1, 0}, 3), "");
  EXPECT_EQ(why_hosts_invalid({0, 1}, 3), "hosts: got 2, expected one for each of 3 ranks");
  const std::string expected =
      ", expected two hosts or more, numbered from 0 in the order in which they appear";
  EXPECT_EQ(why_hosts_invalid({0, 0, 0}, 3), "hosts: got [0,0,0]" + expected);
  EXPECT_EQ(why_hosts_invalid({1, 0}, 2), "hosts: got [1,0]" + expected);
  EXPECT_EQ(why_hosts_invalid({0, 2, 1}, 3), "hosts: got [0,2,1]" + expected);
  EXPECT_EQ(why_hosts_invalid({0, -1}, 2), "hosts: got [0,-1]" + expected);
}

TEST(HostsTest, OfMembersAreInTheOrderOfTheGroup) {
  Case c;
  c.ranks = 3;
  c.hosts = {0, 1, 1};
  EXPECT_EQ(hosts_of_members(c), (Hosts{0, 1, 1}));
  c.group = {2, 0};
  EXPECT_EQ(hosts_of_members(c), (Hosts{1, 0}));
  c.hosts.clear();
  EXPECT_EQ(hosts_of_members(c), Hosts());
}

TEST(HostsTest, DrawnOnesAreUnevenAloneAndScattered) {
  RandomSource random(5);
  std::set<Hosts> drawn;
  for (int i = 0; i < 2000; ++i) {
    const Hosts hosts = draw_hosts(random, 5);
    EXPECT_EQ(why_hosts_invalid(hosts, 5), "");
    drawn.insert(hosts);
  }
  EXPECT_TRUE(drawn.contains({0, 0, 0, 1, 1}));
  EXPECT_TRUE(drawn.contains({0, 0, 0, 0, 1}));
  EXPECT_TRUE(drawn.contains({0, 1, 0, 1, 0}));
  EXPECT_TRUE(drawn.contains({0, 1, 2, 3, 0}));
  for (int i = 0; i < 100; ++i) {
    const Hosts two = draw_hosts(random, 2);
    EXPECT_TRUE(two.empty() || two == Hosts({0, 1}));
  }
}

}  // namespace
}  // namespace rankcheck::harness
