#include "harness/suite/suite_file.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/harness/fake.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness {
namespace {

/// Returns the complaint about a suite's text; empty if it is accepted.
std::string complaint(const std::string& text) {
  return complaint_of<BadInput>([&] { return suite_from_text(text, "suite: s.json"); });
}

/// Returns the complaint about the only entry of a suite, which has these fields besides. The
/// complaint begins with the entry's place, which is left out.
std::string complaint_of_entry(const std::string& fields) {
  const std::string all =
      complaint(R"({"name":"s","summary":"","entries":[{"backends":["sim"],)" + fields + "}]}");
  const std::string place = "suite: s.json: entries[0]: ";
  EXPECT_TRUE(all.empty() || begins(all, place)) << all;
  return all.substr(std::min(place.size(), all.size()));
}

TEST(SuiteFileTest, IsRead) {
  const Suite suite = suite_from_text(
      R"({"name":"s","summary":"all","time_limit_s":9,"cycles":true,"entries":[
          {"operation":"all_*","backends":["sim","mpi"],"cases":7,"ranks":[2,3],
           "types":["f32"],"count":5000000000}]})",
      "here");
  EXPECT_EQ(suite.name, "s");
  EXPECT_EQ(suite.time_limit_s, 9);
  EXPECT_TRUE(suite.cycles);
  const SuiteEntry& entry = suite.entries.at(0);
  EXPECT_EQ(entry.operation, "all_*");
  EXPECT_EQ(entry.backends.size(), 2U);
  EXPECT_EQ(entry.cases, 7);
  EXPECT_EQ(entry.ranks_max, 3);
  EXPECT_EQ(entry.count, 5'000'000'000);
  EXPECT_EQ(entry.types, std::vector{spec::Type::f32});
}

TEST(SuiteFileTest, BadFieldsAreNamedWithTheirPlace) {
  EXPECT_EQ(complaint("{"), "suite: s.json: is not JSON at byte 2");
  EXPECT_EQ(complaint(R"({"name":"s","summary":"","entries":[]})"),
            "suite: s.json: entries: is no list or is empty, expected at least one entry");
  EXPECT_EQ(complaint_of_entry(R"("ranks":[3,2])"),
            "ranks: expected [least, most] with 1 <= least <= most");
  EXPECT_EQ(complaint_of_entry(R"("cases":"x")"),
            "cases: got \"x\", expected a whole number in -2147483648..2147483647");
  EXPECT_TRUE(begins(complaint_of_entry(R"("case":5)"), "case: unknown field"));
}

TEST(SuiteFileTest, ACountIsANumberOfElements) {
  const std::string what = ", the elements of each rank's block";
  EXPECT_EQ(complaint_of_entry(R"("count":-1)"),
            "count: got -1, expected 1..281474976710656" + what);
  EXPECT_EQ(complaint_of_entry(R"("blocks":[65536,4096])"), "");
  EXPECT_EQ(complaint_of_entry(R"("blocks":[65536,65537])"),
            "blocks: got 65537, expected sizes among 4096, 8192, 65536, 262144, 1048576, 4194304");
  EXPECT_EQ(complaint_of_entry(R"("count":0)"), "count: got 0, expected 1..281474976710656" + what);
  EXPECT_EQ(complaint_of_entry(R"("count":9223372036854775807,"ranks":[2,4])"),
            "count: got 9223372036854775807, expected 1..140737488355328" + what);
  EXPECT_EQ(complaint_of_entry(R"("count":140737488355328,"ranks":[2,4])"), "");
}

TEST(SuiteFileTest, HostsFixTheRanks) {
  const Suite suite = suite_from_text(
      R"({"name":"s","summary":"","entries":[{"backends":["mpi"],"hosts":[0,0,1]}]})", "here");
  const SuiteEntry& entry = suite.entries.at(0);
  EXPECT_EQ(entry.hosts, (std::vector{0, 0, 1}));
  EXPECT_EQ(entry.ranks_min, 3);
  EXPECT_EQ(entry.ranks_max, 3);
  EXPECT_EQ(complaint_of_entry(R"("hosts":[1,0])"),
            "hosts: got [1,0], expected two hosts or more, numbered from 0 in the order in which "
            "they appear");
  EXPECT_EQ(complaint_of_entry(R"("hosts":[0,1],"ranks":[1,8])"),
            "ranks: hosts say how many ranks there are, expected only one of them");
}

TEST(SuiteFileTest, VariantIsAName) {
  EXPECT_EQ(complaint_of_entry(R"("variant":"many_ranks_2")"), "");
  for (const std::string variant : {"a/b", "Many", "a b", "a*"}) {
    EXPECT_EQ(complaint_of_entry(R"("variant":")" + variant + '"'),
              "variant: got other characters, expected lower case letters, digits and _")
        << variant;
  }
}

class ExpandTest : public testing::Test {
 protected:
  /// Adds the units of an entry. Returns how many it selects.
  std::size_t add(const SuiteEntry& entry) {
    return expand(entry, catalogue_, "sim", algorithms_, units_);
  }

  Catalogue catalogue_ = fake::catalogue();
  std::vector<AlgorithmInfo> algorithms_{{"all_reduce", "ring", ""},
                                         {"all_reduce", "direct", ""},
                                         {"broadcast", "ring", ""},
                                         {"unheard_of", "ring", ""}};
  std::vector<Unit> units_;
};

TEST_F(ExpandTest, MakesAUnitForEveryAlgorithmAndProperty) {
  add({});
  EXPECT_EQ(units_.size(), 6U);
}

TEST_F(ExpandTest, PatternsChoose) {
  SuiteEntry entry;
  entry.operation = "all_*";
  entry.algorithm = "r?ng";
  entry.property = "completes";
  add(entry);
  ASSERT_EQ(units_.size(), 1U);
  EXPECT_EQ(units_[0].id(), "all_reduce/ring/sim/completes");
}

TEST_F(ExpandTest, LaterEntriesOverrideEarlierOnes) {
  SuiteEntry entry;
  add(entry);
  entry.operation = "broadcast";
  entry.cases = 5;
  EXPECT_EQ(add(entry), 2U);
  EXPECT_EQ(units_.size(), 6U);
  for (const Unit& unit : units_) EXPECT_EQ(unit.cases, unit.operation == "broadcast" ? 5 : 100);
}

TEST_F(ExpandTest, AVariantOverridesNothing) {
  SuiteEntry entry;
  add(entry);
  entry.variant = "many_ranks";
  entry.operation = "broadcast";
  entry.property = "completes";
  add(entry);
  ASSERT_EQ(units_.size(), 7U);
  EXPECT_EQ(units_.back().id(), "broadcast/ring/sim/completes@many_ranks");
}

TEST_F(ExpandTest, HostsNameTheVariant) {
  SuiteEntry entry;
  entry.operation = "broadcast";
  entry.property = "completes";
  entry.set_hosts({0, 0, 1});
  add(entry);
  entry.variant = "many_ranks";
  add(entry);
  // Other hosts take the place of the first ones.
  entry.set_hosts({0, 1});
  add(entry);
  ASSERT_EQ(units_.size(), 3U);
  EXPECT_EQ(units_[0].id(), "broadcast/ring/sim/completes@hosts_0_0_1");
  EXPECT_EQ(units_[1].id(), "broadcast/ring/sim/completes@many_ranks_hosts_0_0_1");
  EXPECT_EQ(units_[2].id(), "broadcast/ring/sim/completes@many_ranks_hosts_0_1");
}

TEST_F(ExpandTest, SortingPutsPinnedCasesFirst) {
  add({});
  Unit pinned;
  pinned.operation = "zzz";
  pinned.pinned = "zzz/case";
  units_.push_back(pinned);
  sort_units(units_);
  EXPECT_EQ(units_[0].operation, "zzz");
  EXPECT_EQ(units_[1].id(), "all_reduce/direct/sim/completes");
}

TEST(SuiteTest, DeepNestingIsNoSuite) {
  const std::string deep = std::string(1 << 18, '[') + std::string(1 << 18, ']');
  EXPECT_THROW(static_cast<void>(suite_from_text(R"({"name":)" + deep + "}", "suite: s")),
               BadInput);
}

}  // namespace
}  // namespace rankcheck::harness
