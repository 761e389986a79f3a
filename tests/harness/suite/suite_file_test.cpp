#include "harness/suite/suite_file.hpp"

#include <gtest/gtest.h>

#include "tests/harness/fake.hpp"

namespace rankcheck::harness {
namespace {

/// Returns the complaint about a suite's text; empty if it is accepted.
std::string complaint(const std::string& text) {
  try {
    static_cast<void>(suite_from_text(text, "suite: s.json"));
  } catch (const BadInput& bad) {
    return bad.what();
  }
  return {};
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
  EXPECT_EQ(
      complaint(R"({"name":"s","summary":"","entries":[{"backends":["sim"],"ranks":[3,2]}]})"),
      "suite: s.json: entries[0]: ranks: expected [least, most] with 1 <= least <= most");
  EXPECT_EQ(complaint(R"({"name":"s","summary":"","entries":[{"backends":["sim"],"cases":"x"}]})"),
            "suite: s.json: entries[0]: cases: got \"x\", expected a whole number in "
            "-2147483648..2147483647");
}

TEST(SuiteFileTest, ACountIsANumberOfElements) {
  const auto complaint_about = [](const std::string& fields) {
    return complaint(R"({"name":"s","summary":"","entries":[{"backends":["sim"],)" + fields +
                     "}]}");
  };
  const std::string place = "suite: s.json: entries[0]: count: got ";
  const std::string what = ", the elements of each rank's block";
  EXPECT_EQ(complaint_about(R"("count":-1)"), place + "-1, expected 1..281474976710656" + what);
  EXPECT_EQ(complaint_about(R"("count":0)"), place + "0, expected 1..281474976710656" + what);
  EXPECT_EQ(complaint_about(R"("count":9223372036854775807,"ranks":[2,4])"),
            place + "9223372036854775807, expected 1..140737488355328" + what);
  EXPECT_EQ(complaint_about(R"("count":140737488355328,"ranks":[2,4])"), "");
}

TEST(SuiteFileTest, HostsFixTheRanks) {
  const Suite suite = suite_from_text(
      R"({"name":"s","summary":"","entries":[{"backends":["mpi"],"hosts":[0,0,1]}]})", "here");
  const SuiteEntry& entry = suite.entries.at(0);
  EXPECT_EQ(entry.hosts, (std::vector{0, 0, 1}));
  EXPECT_EQ(entry.ranks_min, 3);
  EXPECT_EQ(entry.ranks_max, 3);
  EXPECT_EQ(
      complaint(R"({"name":"s","summary":"","entries":[{"backends":["mpi"],"hosts":[1,0]}]})"),
      "suite: s.json: entries[0]: hosts: got [1,0], expected two hosts or more, numbered from "
      "0 in the order in which they appear");
}

TEST(SuiteFileTest, HostsAndRanksAreNotGivenTogether) {
  EXPECT_EQ(complaint(R"({"name":"s","summary":"","entries":[{"backends":["mpi"],)"
                      R"("hosts":[0,1],"ranks":[1,8]}]})"),
            "suite: s.json: entries[0]: ranks: hosts say how many ranks there are, expected only "
            "one of them");
}

TEST(SuiteFileTest, MisspelledFieldIsRefused) {
  EXPECT_NE(complaint(R"({"name":"s","summary":"","entries":[{"backends":["sim"],"case":5}]})")
                .find("entries[0]: case: unknown field"),
            std::string::npos);
}

TEST(SuiteFileTest, VariantIsAName) {
  const auto with = [](const std::string& variant) {
    return complaint(R"({"name":"s","summary":"","entries":[{"backends":["sim"],"variant":")" +
                     variant + R"("}]})");
  };
  EXPECT_EQ(with("many_ranks_2"), "");
  for (const char* variant : {"a/b", "Many", "a b", "a*"}) {
    EXPECT_EQ(with(variant),
              "suite: s.json: entries[0]: variant: got other characters, expected lower case "
              "letters, digits and _");
  }
}

class ExpandTest : public testing::Test {
 protected:
  Catalogue catalogue_ = fake::catalogue();
  std::vector<AlgorithmInfo> algorithms_{{"all_reduce", "ring", ""},
                                         {"all_reduce", "direct", ""},
                                         {"broadcast", "ring", ""},
                                         {"unheard_of", "ring", ""}};
  std::vector<Unit> units_;
};

TEST_F(ExpandTest, MakesAUnitForEveryAlgorithmAndProperty) {
  expand({}, catalogue_, "sim", algorithms_, units_);
  EXPECT_EQ(units_.size(), 6U);
}

TEST_F(ExpandTest, PatternsChoose) {
  SuiteEntry entry;
  entry.operation = "all_*";
  entry.algorithm = "r?ng";
  entry.property = "completes";
  expand(entry, catalogue_, "sim", algorithms_, units_);
  ASSERT_EQ(units_.size(), 1U);
  EXPECT_EQ(units_[0].id(), "all_reduce/ring/sim/completes");
}

TEST_F(ExpandTest, LaterEntriesOverrideEarlierOnes) {
  SuiteEntry entry;
  expand(entry, catalogue_, "sim", algorithms_, units_);
  entry.operation = "broadcast";
  entry.cases = 5;
  EXPECT_EQ(expand(entry, catalogue_, "sim", algorithms_, units_), 2U);
  EXPECT_EQ(units_.size(), 6U);
  for (const Unit& unit : units_) EXPECT_EQ(unit.cases, unit.operation == "broadcast" ? 5 : 100);
}

TEST_F(ExpandTest, AVariantOverridesNothing) {
  SuiteEntry entry;
  expand(entry, catalogue_, "sim", algorithms_, units_);
  entry.variant = "many_ranks";
  entry.operation = "broadcast";
  entry.property = "completes";
  expand(entry, catalogue_, "sim", algorithms_, units_);
  ASSERT_EQ(units_.size(), 7U);
  EXPECT_EQ(units_.back().id(), "broadcast/ring/sim/completes@many_ranks");
}

TEST_F(ExpandTest, HostsNameTheVariant) {
  SuiteEntry entry;
  entry.operation = "broadcast";
  entry.property = "completes";
  entry.set_hosts({0, 0, 1});
  expand(entry, catalogue_, "sim", algorithms_, units_);
  entry.variant = "many_ranks";
  expand(entry, catalogue_, "sim", algorithms_, units_);
  // Other hosts take the place of the first ones.
  entry.set_hosts({0, 1});
  expand(entry, catalogue_, "sim", algorithms_, units_);
  ASSERT_EQ(units_.size(), 3U);
  EXPECT_EQ(units_[0].id(), "broadcast/ring/sim/completes@hosts_0_0_1");
  EXPECT_EQ(units_[1].id(), "broadcast/ring/sim/completes@many_ranks_hosts_0_0_1");
  EXPECT_EQ(units_[2].id(), "broadcast/ring/sim/completes@many_ranks_hosts_0_1");
}

TEST_F(ExpandTest, SortingPutsPinnedCasesFirst) {
  expand({}, catalogue_, "sim", algorithms_, units_);
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
