#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::Outcome;

/// Pinned cases of an installed program that has no other cases.
class CliPinnedTest : public tests::CliTest {
 protected:
  CliPinnedTest() { install(); }

  /// Returns the names of the pinned cases that a run reports.
  std::set<std::string> pinned_in(const std::string& folder) {
    std::set<std::string> names;
    const json all = report(folder);
    for (const json& finding : all["findings"]) {
      if (finding["unit"].contains("pinned")) names.insert(finding["unit"]["pinned"]);
    }
    return names;
  }
};

const std::string sum_of_two =
    R"({"operation":"all_reduce","algorithm":"ring","backend":"sim","ranks":2,"count":4,)"
    R"("type":"f32","op":"sum"})";

const std::string padding =
    R"({"operation":"pad","algorithm":"pixelwise","backend":"sim","ranks":2,"counts":[1,2],)"
    R"("rows":5,"cols":4,"window":2,"detector":3,"input":"exact"})";

TEST_F(CliPinnedTest, CasesOfOperatorsAreRun) {
  pin("ptycho/pad", "two_frames", padding);
  write_suite(R"("operation":"pad","cases":2,"require_all_cells":false)");
  const Outcome outcome = rankcheck("run s.json --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(pinned_in("r"), std::set<std::string>{"pad/two_frames"});
}

TEST_F(CliPinnedTest, CasesThatCannotBeReadAreAnErrorAndNotNone) {
  write_suite(R"("operation":"barrier","cases":2,"require_all_cells":false)");
  fs::remove_all(cases());
  expect_unable("run s.json --report r", "cannot read: ");
  expect_unable("run smoke", "cannot read: ");
}

TEST_F(CliPinnedTest, FailureIsConfirmedByReplays) {
  json faulty = json::parse(sum_of_two);
  faulty["fault"] = "flip:1";
  pin("collectives/all_reduce", "flipped_bit", faulty.dump());
  write_suite(R"("operation":"all_reduce","algorithm":"ring","cases":60)");
  ASSERT_EQ(rankcheck("run s.json --fail-fast --report r").status, 1);
  json finding = report("r")["findings"][0];
  EXPECT_EQ(finding["verdict"], "falsified");
  EXPECT_EQ(finding["replays"], 5);
  EXPECT_EQ(finding["replays_failed"], 5);
  EXPECT_EQ(finding["minimal"]["fault"], "flip:1");
}

TEST_F(CliPinnedTest, CasesOfWhatTheSuiteDoesNotNameAreLeftOut) {
  pin("collectives/all_reduce", "sum_of_two", sum_of_two);
  write_suite(R"("operation":"b*","algorithm":"binomial","cases":2,"require_all_cells":false)");
  ASSERT_EQ(rankcheck("run s.json --report r").status, 0);
  EXPECT_EQ(pinned_in("r"), std::set<std::string>{});
}

TEST_F(CliPinnedTest, CasesOfOtherRanksAreLeftOut) {
  pin("collectives/all_reduce", "sum_of_two", sum_of_two);
  write_suite(R"("operation":"all_reduce","algorithm":"ring","cases":2,"require_all_cells":false)");
  ASSERT_EQ(rankcheck("run s.json --ranks 3..3 --report three").status, 0);
  EXPECT_EQ(pinned_in("three"), std::set<std::string>{});
  ASSERT_EQ(rankcheck("run s.json --ranks 2..3 --report two").status, 0);
  EXPECT_EQ(pinned_in("two"), std::set<std::string>{"all_reduce/sum_of_two"});
}

TEST_F(CliPinnedTest, CasesOfOtherTypesAreLeftOut) {
  pin("collectives/all_reduce", "sum_of_two", sum_of_two);
  write_suite(R"("operation":"all_reduce","algorithm":"ring","cases":2,"require_all_cells":false)");
  ASSERT_EQ(rankcheck("run s.json --type f64 --report r").status, 0);
  EXPECT_EQ(pinned_in("r"), std::set<std::string>{});
}

TEST_F(CliPinnedTest, BrokenCaseIsNamed) {
  pin("collectives/all_reduce", "torn", "{");
  write_suite(R"("operation":"barrier","cases":2,"require_all_cells":false)");
  expect_unable("run s.json", "pinned/torn.json: ");
}

}  // namespace
}  // namespace rankcheck
