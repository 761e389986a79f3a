#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

namespace rankcheck {
namespace {

using nlohmann::json;
using tests::Outcome;

/// Tests how `rankcheck run` selects suites, and how options narrow them.
class CliSelectionTest : public tests::CliTest {
 protected:
  std::string second_line(const Outcome& outcome) const {
    const std::size_t first = outcome.out.find('\n') + 1;
    return outcome.out.substr(first, outcome.out.find('\n', first) - first);
  }

  std::set<std::string> backends_of(const std::string& folder) {
    std::set<std::string> all;
    const json whole = report(folder);
    for (const json& finding : whole["findings"]) all.insert(finding["unit"]["backend"]);
    return all;
  }
};

TEST_F(CliSelectionTest, OptionsWithoutASuiteNarrowSmoke) {
  // The run reports smoke's backends, whether or not they are available here.
  (void)rankcheck("run --operation barrier --cases 1 --report r");
  EXPECT_EQ(report("r")["run"]["suites"], json({"smoke"}));
  EXPECT_EQ(backends_of("r"), (std::set<std::string>{"cuda", "mpi", "nccl", "sim"}));
}

TEST_F(CliSelectionTest, HelpSaysWhatIsNarrowed) {
  const Outcome outcome = rankcheck("run --help");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("If no suite is named, they restrict smoke"), std::string::npos);
}

TEST_F(CliSelectionTest, SecondLineNamesSuiteAndBackends) {
  const Outcome outcome =
      rankcheck("run --operation barrier --algorithm central --cases 1 --backend sim");
  EXPECT_EQ(second_line(outcome).find("suite smoke: 2 units on sim, at most 2 cases"), 0U)
      << outcome.out;
}

TEST_F(CliSelectionTest, AllIsEveryCheckOnSim) {
  const Outcome outcome = rankcheck("run all --operation barrier --cases 1 --report r");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_EQ(backends_of("r"), std::set<std::string>{"sim"});
}

TEST_F(CliSelectionTest, FiltersTakeListsAndMayBeRepeated) {
  const std::string options =
      " --backend sim --property agrees_with_reference --cases 1 --list-units";
  const json listed =
      json::parse(rankcheck("run all --operation 'broadcast,all_gather' --operation scatter "
                            "--algorithm binomial,ring --algorithm chain" +
                            options)
                      .out);
  std::set<std::string> ids;
  for (const json& unit : listed) ids.insert(unit["id"]);
  EXPECT_TRUE(ids.contains("broadcast/binomial/sim/agrees_with_reference"));
  EXPECT_TRUE(ids.contains("broadcast/chain/sim/agrees_with_reference"));
  EXPECT_TRUE(ids.contains("all_gather/ring/sim/agrees_with_reference"));
  EXPECT_TRUE(ids.contains("scatter/binomial/sim/agrees_with_reference"));
  EXPECT_EQ(ids.size(), listed.size());
  for (const std::string& id : ids) {
    EXPECT_TRUE(id.starts_with("broadcast/") || id.starts_with("all_gather/") ||
                id.starts_with("scatter/"))
        << id;
  }
}

TEST_F(CliSelectionTest, EveryPatternOfAListHasToMatch) {
  expect_unable("run --operation 'b*,all_redcue'",
                "--operation all_redcue: matches no operation that 'rankcheck list' shows; did you "
                "mean all_reduce");
  expect_unable("run --operation barrier --property 'is_*' --property is_determinstic",
                "--property is_determinstic: matches no property that 'rankcheck list' shows; did "
                "you mean is_deterministic?");
  expect_unable("run --operation broadcast --type f32 --type f31",
                "--type: f31: is no element type, expected some of int8, ");
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
  harness::write_file(path_to("s.json"),
                      R"({"name":"s","summary":"s","time_limit_s":1e-6,)"
                      R"("entries":[{"backends":["sim"],"operation":"barrier"}]})");
  EXPECT_EQ(rankcheck("run s.json").status, 2);
  EXPECT_EQ(rankcheck("run s.json --cases 1").status, 0);
}

TEST_F(CliSelectionTest, NothingIsOpenedForWhatOptionsLeaveOut) {
  // Smoke has no such algorithm for mpi, so its launcher, which would fail, is not started.
  const Outcome outcome = shell("RANKCHECK_MPIEXEC=/bin/false " + program_ +
                                " run --operation barrier --algorithm central --cases 1");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
}

TEST_F(CliSelectionTest, NamedBackendOfNoEntryTakesTheCasesOfSim) {
  // The program does not send its hello. The complaint shows that it was started.
  expect_unable("run smoke --operation barrier --backend command:/bin/true",
                "backend command:/bin/true: ");
  expect_unable("run --operation barrier --backend command:/bin/true",
                "backend command:/bin/true: ");
}

TEST_F(CliSelectionTest, WhatIsRequiredAndNotOfferedIsVacuous) {
  write_suite(R"("operation":"barrier","cases":30)");
  EXPECT_EQ(rankcheck("run s.json --require 'barrier/*' --report offered").status, 0);
  const Outcome outcome =
      rankcheck("run s.json --require 'barrier/*' --require 'broadcast/f32/*' --report r");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_NE(outcome.last_line().find("1 vacuous"), std::string::npos) << outcome.out;
  const nlohmann::json findings = report("r").at("findings");
  const auto found = std::find_if(findings.begin(), findings.end(), [](const auto& each) {
    return each.at("id") == "broadcast/*/sim/*";
  });
  ASSERT_NE(found, findings.end());
  EXPECT_EQ(found->at("reason"), "required, and the backend does not have the operation");
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_EQ(rankcheck("report r").status, 1);
}

TEST_F(CliSelectionTest, RequiredCellsAreCoveredByEveryUnit) {
  write_suite(R"("operation":"broadcast","algorithm":"chain","cases":200)");
  EXPECT_EQ(rankcheck("run s.json --require 'broadcast/site/chunked' --report chain").status, 0);
  write_suite(R"("operation":"broadcast","algorithm":"binomial","cases":200)");
  const Outcome outcome =
      rankcheck("run s.json --require 'broadcast/site/chunked' --report binomial");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_TRUE(outcome.says("first site/chunked, which is not offered")) << outcome.out;
  // Refused cells are reported without --require, too.
  EXPECT_TRUE(rankcheck("run s.json --report r").says("not offered by their backends"));
  EXPECT_EQ(rankcheck("report r").status, 0);
}

TEST_F(CliSelectionTest, UnitsAreListedAndSelected) {
  const Outcome all = rankcheck(
      "run --operation barrier --algorithm central --backend sim "
      "--require-ranks 3 --list-units");
  EXPECT_EQ(all.status, 0) << all.err;
  const json units = json::parse(all.out);
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0]["ranks_required"], 3);
  EXPECT_FALSE(exists("reports"));
  const std::string id = units[1]["id"];
  for (const std::string& selected : {id, "*/" + std::string(units[1]["property"])}) {
    const Outcome one = rankcheck(
        "run --operation barrier --algorithm central --backend sim "
        "--cases 5 --unit '" +
        selected + "' --report r");
    EXPECT_EQ(one.status, 0) << one.err;
    ASSERT_EQ(report("r")["findings"].size(), 1U);
    EXPECT_EQ(report("r")["findings"][0]["id"], id);
    EXPECT_EQ(harness::complaints(report("r")), "");
    std::filesystem::remove_all(path_to("r"));
  }
  expect_unable("run --backend sim --unit no/such/unit --report r",
                "selects no check, expected at least one");
}

TEST_F(CliSelectionTest, RanksThatAreRequiredMustBeReached) {
  const Outcome outcome = rankcheck(
      "run --operation barrier --backend sim --cases 5 --ranks 1..2 --require-ranks 3 --report r");
  EXPECT_EQ(outcome.status, 1) << outcome.out;
  EXPECT_EQ(report("r")["findings"][0]["verdict"], "vacuous");
}

TEST_F(CliSelectionTest, RefusesToRequireWhatNoOperationHas) {
  expect_unable("run smoke --backend sim --require 'broadcast/f33/*' --report r",
                "--require: broadcast/f33/*: matches no cell; cells are like all_reduce/f32/sum");
  EXPECT_FALSE(exists("r"));
}

}  // namespace
}  // namespace rankcheck
