#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/hardware/cli_gate_fixture.hpp"
#include "tests/harness/schema.hpp"

/// How `rankcheck run hardware` goes on after its end, a kill or a change of its files.
namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::Outcome;

TEST_F(CliGateTest, KilledItKeepsItsLinksAndGoesOn) {
  rankcheck(gate_ + "--time-budget 100 --report r", 128 + 9);
  // The report with the doctor's answer is written before the first link is probed.
  EXPECT_EQ(measured(report("r")), 0);
  EXPECT_TRUE(report("r")["environment"]["hardware"]["doctor"].contains("backends"));
  const Outcome told = rankcheck("report r", 2);
  EXPECT_TRUE(has(told.err, "to continue: " + program_ + " run --resume r"));
  EXPECT_EQ(report("r")["ending"], "killed");
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_EQ(measured(report("r")), 3);

  make("fast");
  finish_gate("r");
  EXPECT_EQ(measured(report("r")), 8);
  // Every link is probed once before any link is probed again.
  const std::string asked = text_of("asked");
  const std::size_t again = asked.find(R"("from":0,"to":0,)", asked.find(R"("from":0,"to":1,)"));
  EXPECT_EQ(std::count(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(again), '\n'), 8);
  const std::string file = text_of("r/report.json");
  rankcheck("report r", 2);
  EXPECT_EQ(text_of("r/report.json"), file);
}

TEST_F(CliGateTest, ResumedItsSoakGoesOnAtTheNextLink) {
  make("fast");
  run_whole("r", "--seed 3");
  const std::size_t before = soaked().size();
  make("stop", std::to_string(before + 3));
  EXPECT_EQ(rankcheck("run --resume r --time-budget 100").status, 128 + 9);
  fs::remove(path_to("stop"));
  ASSERT_EQ(soaked().size(), before + 3);
  finish_gate("r");
  const std::vector<json> probes = soaked();
  EXPECT_GT(probes.size(), before + 3);
  for (std::size_t p = 0; p < probes.size(); ++p) {
    const json& each = probes[p];
    const int link = 4 * each.at("from").get<int>() + 2 * each.at("to").get<int>() +
                     (each.at("method") == "load" ? 1 : 0);
    EXPECT_EQ(link, (3 + p) % 8) << p;
    EXPECT_EQ(each.at("seed"), 4 + p / 8) << p;
  }
  EXPECT_EQ(harness::complaints(report("r")), "");
}

TEST_F(CliGateTest, PartThatWasKilledBeforeItsHeaderBeginsAnew) {
  make("fast");
  rankcheck(gate_ + "--time-budget 0.001 --report r");
  fs::create_directory(path_to("r/cuda"));
  make("r/cuda/journal.jsonl", "{\"journal");
  finish_gate("r");
  EXPECT_EQ(report("r/cuda")["ending"], "completed");
}

/// Only the gate knows under which conditions a part must run.
TEST_F(CliGateTest, RefusesToGoOnWithAPartAlone) {
  make("fast");
  const Outcome gate = run_whole("r");
  for (const std::string part : {"r/suites", "r/soak", "r/nccl-2", "r/suites/"}) {
    expect_unable("run --resume " + part,
                  "--resume: " + part + ": is a part of a gate: expected --resume r");
  }
  EXPECT_EQ(gate.out.find("--resume r/"), std::string::npos) << gate.out;
  // These are the user's own runs beside the gate's parts.
  for (const std::string own : {"r/soak-mine", "r/device-x", "r/device", "r/suites-1"}) {
    expect_unable("run --resume " + own, "cannot read: " + own + "/journal.jsonl");
  }
  EXPECT_EQ(rankcheck("report r/soak").err.find("--resume r/"), std::string::npos);
}

TEST_F(CliGateTest, GoesOnOnlyAsItBegan) {
  make("fast");
  rankcheck(gate_ + "--time-budget 0.1 --seed 5 --report r");
  expect_unable("run hardware --resume r --seed 6", "--resume: r: got 6, expected seed to be 5");
  change_worker("cuda", "made up", "made new");
  expect_unable("run --resume r", "other devices need a folder of their own (--report)");
  leave_one_device();
  expect_unable("run --resume r", "other devices need a folder of their own (--report)");

  write_worker("cuda", worker_script);
  const std::string commit = report("r")["environment"]["commit"];
  change_journal("r/journal.jsonl", '"' + commit + '"', "\"another\"");
  expect_unable("run --resume r", "another");
}

TEST_F(CliGateTest, RefusesToGoOnWithAPartThatHasChanged) {
  make("fast");
  run_whole("r");
  const std::string journal = "r/suites/journal.jsonl";
  const std::string whole = text_of(journal);
  const std::string gate = text_of("r/journal.jsonl");
  std::string changed = whole;
  const std::size_t digit = changed.find("\"cases\":") + 8;
  changed[digit] = changed[digit] == '1' ? '2' : '1';
  make(journal, changed);
  expect_unable("run --resume r", "r/suites/journal.jsonl: line 1: crc32: got ");
  make(journal, harness::without_checksums(whole));
  expect_unable("run --resume r", "r: suites: journal.jsonl: line 1: has no checksum");
  EXPECT_EQ(text_of("r/journal.jsonl"), gate);
}

}  // namespace
}  // namespace rankcheck
