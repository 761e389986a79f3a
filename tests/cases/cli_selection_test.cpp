#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

/// How `rankcheck run` selects suites and units, and how options and pinned cases narrow them.
namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::Outcome;

class CliSelectionTest : public tests::CliTest {
 protected:
  std::set<std::string> backends_of(const std::string& folder) {
    std::set<std::string> all;
    for (const json& finding : findings(folder)) all.insert(finding["unit"]["backend"]);
    return all;
  }
};

TEST_F(CliSelectionTest, OptionsWithoutASuiteNarrowSmoke) {
  // The run reports smoke's backends, whether or not they are available here.
  (void)rankcheck("run --operation barrier --cases 1 --report r");
  EXPECT_EQ(report("r")["run"]["suites"], json({"smoke"}));
  EXPECT_EQ(backends_of("r"), (std::set<std::string>{"cuda", "mpi", "nccl", "sim"}));
}

TEST_F(CliSelectionTest, SecondLineNamesSuiteAndBackends) {
  const Outcome outcome =
      rankcheck("run --operation barrier --algorithm central --cases 1 --backend sim");
  EXPECT_TRUE(
      begins(outcome.out, outcome.first_line() + "\nsuite smoke: 2 units on sim, at most 2 cases"));
}

TEST_F(CliSelectionTest, AllIsEveryCheckOnSim) {
  passes("run all --operation barrier --cases 1 --report r");
  EXPECT_EQ(backends_of("r"), std::set<std::string>{"sim"});
}

TEST_F(CliSelectionTest, SeveralPatternsAreAListInTheReport) {
  (void)rankcheck(
      "run --operation barrier,broadcast --algorithm 'c*' --backend sim --cases 1 "
      "--report r");
  EXPECT_EQ(report("r")["run"]["operation"], json({"barrier", "broadcast"}));
  EXPECT_EQ(report("r")["run"]["algorithm"], "c*");
  EXPECT_EQ(harness::complaints(report("r")), "");
}

TEST_F(CliSelectionTest, TimeLimitOfASuiteIsNotForOtherNumbersOfCases) {
  write_entries({R"("backends":["sim"],"operation":"barrier")"}, R"("time_limit_s":1e-6,)");
  EXPECT_EQ(rankcheck("run s.json").status, 2);
  passes("run s.json --cases 1");
}

TEST_F(CliSelectionTest, NothingIsOpenedForWhatOptionsLeaveOut) {
  // Smoke has no such algorithm for mpi, so its launcher, which would fail, is not started.
  with("RANKCHECK_MPIEXEC=/bin/false", "run --operation barrier --algorithm central --cases 1", 0);
}

TEST_F(CliSelectionTest, WhatIsRequiredAndNotOfferedIsVacuous) {
  write_suite(R"("operation":"barrier","cases":30)");
  passes("run s.json --require 'barrier/*' --report offered");
  const Outcome outcome =
      fails("run s.json --require 'barrier/*' --require 'broadcast/f32/*' --report r");
  EXPECT_TRUE(has(outcome.last_line(), "1 vacuous")) << outcome.out;
  const json all = findings("r");
  const auto found = std::find_if(all.begin(), all.end(), [](const auto& each) {
    return each.at("id") == "broadcast/*/sim/*";
  });
  ASSERT_NE(found, all.end());
  EXPECT_EQ(found->at("reason"), "required, and the backend does not have the operation");
  EXPECT_EQ(harness::complaints(report("r")), "");
  fails("report r");
}

TEST_F(CliSelectionTest, RequiredCellsAreCoveredByEveryUnit) {
  write_suite(R"("operation":"broadcast","algorithm":"chain","cases":200)");
  passes("run s.json --require 'broadcast/site/chunked' --report chain");
  write_suite(R"("operation":"broadcast","algorithm":"binomial","cases":200)");
  const Outcome outcome = fails("run s.json --require 'broadcast/site/chunked' --report binomial");
  EXPECT_TRUE(outcome.says("first site/chunked, which is not offered"));
  // Refused cells are reported without --require, too.
  EXPECT_TRUE(rankcheck("run s.json --report r").says("not offered by their backends"));
  passes("report r");
}

TEST_F(CliSelectionTest, UnitsAreListedAndSelected) {
  const std::string run = "run --operation barrier --algorithm central --backend sim ";
  const json units = json_of(run + "--require-ranks 3 --list-units");
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0]["ranks_required"], 3);
  EXPECT_FALSE(exists("reports"));
  const std::string id = units[1]["id"];
  for (const std::string& selected : {id, "*/" + std::string(units[1]["property"])}) {
    passes(run + "--cases 5 --unit '" + selected + "' --overwrite --report r");
    ASSERT_EQ(findings("r").size(), 1U);
    EXPECT_EQ(findings("r")[0]["id"], id);
    EXPECT_EQ(harness::complaints(report("r")), "");
  }
}

TEST_F(CliSelectionTest, RanksThatAreRequiredMustBeReached) {
  fails(
      "run --operation barrier --backend sim --cases 5 --ranks 1..2 --require-ranks 3 --report r");
  EXPECT_EQ(report("r")["findings"][0]["verdict"], "vacuous");
}

/// Pinned cases of an installed program that has no other cases.
class CliPinnedTest : public tests::CliTest {
 protected:
  CliPinnedTest() { install(); }

  /// Returns the names of the pinned cases that a run reports.
  std::set<std::string> pinned_in(const std::string& folder) {
    std::set<std::string> names;
    for (const json& finding : findings(folder)) {
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
  passes("run s.json --report r");
  EXPECT_EQ(pinned_in("r"), std::set<std::string>{"pad/two_frames"});
}

TEST_F(CliPinnedTest, CasesThatCannotBeReadAreAnErrorAndNotNone) {
  write_suite(R"("operation":"barrier","cases":2,"require_all_cells":false)");
  fs::remove_all(cases());
  expect_unable("run s.json --report r", "cannot read: ");
  expect_unable("run smoke", "cannot read: ");
}

TEST_F(CliPinnedTest, CasesOfOtherOperationsRanksAndTypesAreLeftOut) {
  pin("collectives/all_reduce", "sum_of_two", sum_of_two);
  write_suite(R"("operation":"b*","algorithm":"binomial","cases":2,"require_all_cells":false)");
  passes("run s.json --report other");
  write_suite(R"("operation":"all_reduce","algorithm":"ring","cases":2,"require_all_cells":false)");
  passes("run s.json --ranks 3..3 --report three");
  passes("run s.json --type f64 --report f64");
  for (const char* folder : {"other", "three", "f64"}) {
    EXPECT_EQ(pinned_in(folder), std::set<std::string>{}) << folder;
  }
  passes("run s.json --ranks 2..3 --report two");
  EXPECT_EQ(pinned_in("two"), std::set<std::string>{"all_reduce/sum_of_two"});
}

TEST_F(CliPinnedTest, BrokenCaseIsNamed) {
  pin("collectives/all_reduce", "torn", "{");
  write_suite(R"("operation":"barrier","cases":2,"require_all_cells":false)");
  expect_unable("run s.json", "pinned/torn.json: ");
}

}  // namespace
}  // namespace rankcheck
