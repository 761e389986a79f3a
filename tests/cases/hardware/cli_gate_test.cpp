#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/hardware/cli_gate_fixture.hpp"
#include "tests/harness/page/page_text.hpp"
#include "tests/harness/schema.hpp"

/// What `rankcheck run hardware` prints, writes, refuses and leaves out.
namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::Outcome;

TEST_F(CliGateTest, ProcessAndFileSayTheSame) {
  make("fast");
  // The status is 2, because the script runs no case.
  EXPECT_EQ(run_whole("r").status, 2);
  EXPECT_EQ(report("r")["exit_status"], 2);
  EXPECT_EQ(report("r")["environment"]["hardware"]["status"], 2);
  EXPECT_EQ(harness::complaints(report("r")), "");
  make("corrupt");
  const Outcome outcome = run_whole("corrupt-link");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_EQ(report("corrupt-link")["exit_status"], 1);
  EXPECT_EQ(report("corrupt-link")["environment"]["hardware"]["status"], 1);
  EXPECT_EQ(rankcheck("report corrupt-link").status, 1);
}

TEST_F(CliGateTest, SaysHowLongEachUnitAndLinkTook) {
  make("fast");
  run_whole("r");
  const json all = report("r");
  const json& durations = all["environment"]["durations_s"];
  for (const json& each : all["findings"]) {
    const std::string id = each["id"];
    const bool was_run = each["cases"] > 0;
    EXPECT_EQ(durations.contains(id), was_run) << each;
    EXPECT_TRUE(!was_run || durations[id] > 0) << id;
  }
  rankcheck("report r");
  EXPECT_EQ(report("r")["environment"]["durations_s"], durations) << "made again from the journal";
}

TEST_F(CliGateTest, EndsWhenTheTimeOfTheCallIsOver) {
  make("fast");
  // A single probe takes longer than this budget.
  const Outcome first = rankcheck(gate_ + "--time-budget 0.001 --report r --archive r.zip", 2);
  // The user can paste this line.
  EXPECT_TRUE(has(first.out,
                  "ended early (time_over), 8 units were not run; to continue: " + program_ +
                      " run --resume r --time-budget 0.001 --archive r.zip\n"));
  EXPECT_TRUE(begins(first.err, "rankcheck: r: ended early (time_over)"));
  EXPECT_EQ(report("r")["ending"], "time_over");
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_TRUE(exists("r.zip"));
  const json phases = report("r")["environment"]["hardware"]["phases"];
  for (const json& each : phases) EXPECT_EQ(each.at("verdict"), "skipped") << each;
  // The budget is that of the latest call.
  const Outcome second = rankcheck("run --resume r --time-budget 0.002");
  EXPECT_TRUE(has(second.out, "run --resume r --time-budget 0.002\n"));
  finish_gate("r");
  EXPECT_EQ(measured(report("r")), 8);
  EXPECT_EQ(parts_of("r"),
            "links, cuda, nccl 1 rank, nccl 2 ranks, speed, sanitizer, suites, device 0, device 1, "
            "soak, ");
}

TEST_F(CliGateTest, RefusesAnArchiveThatCannotBeWritten) {
  expect_unable(gate_ + "--report r --archive absent/r.zip",
                "--archive: absent/r.zip: found no folder absent, expected a file in a writable");
  expect_unable(gate_ + "--report r --archive r.tar",
                "--archive: r.tar: expected a name that ends with .zip");
  make("other.zip", "no archive");
  expect_unable(gate_ + "--report r --archive other.zip",
                "--archive: other.zip: expected a new file, or an archive to replace");
  EXPECT_EQ(text_of("other.zip"), "no archive");
  EXPECT_FALSE(exists("r"));
}

/// The script logs its arguments in the file `started`.
TEST_F(CliGateTest, HasARankForEveryDevice) {
  make("fast");
  const fs::path suite = cases() / "suites" / "hardware.json";
  harness::write_file(suite, R"({"name":"hardware","summary":"s","entries":[
      {"backends":["cuda"],"cases":1,"ranks":[1,3]},
      {"backends":["nccl"],"cases":1,"ranks":[1,4]}]})");
  const std::string note = "echo \"${0##*-} $*\" >> started";
  for (const char* name : {"cuda", "nccl"}) write_worker(name, note + worker_script);
  const auto ranks_of = [this](const std::string& folder) {
    json most;
    const json findings = report(folder).at("findings");
    for (const json& each : findings) {
      const json& unit = each.at("unit");
      most[unit.at("backend").get<std::string>()] = unit.at("ranks").at(1);
    }
    return most;
  };
  run_whole("two");
  EXPECT_EQ(ranks_of("two/suites"), (json{{"cuda", 3}, {"nccl", 2}}));
  EXPECT_EQ(ranks_of("two/soak"), ranks_of("two/suites"));
  EXPECT_EQ(report("two").at("run").at("devices"), 2);
  EXPECT_EQ(harness::complaints(report("two/suites")), "");
  // A backend gets no more ranks than its own cases have.
  const std::string started = text_of("started");
  EXPECT_TRUE(has(started, "cuda --ranks 3\n"));
  EXPECT_TRUE(has(started, "nccl --ranks 2 "));
  EXPECT_EQ(started.find("nccl --ranks 3 "), std::string::npos) << started;

  // Ranks of NCCL share a device only if there is a single device.
  leave_one_device();
  run_whole("one");
  EXPECT_EQ(report("one").at("run").at("devices"), 1);
  EXPECT_EQ(ranks_of("one/suites"), (json{{"cuda", 3}, {"nccl", 4}}));

  run_whole("as-asked", "--ranks 1");
  EXPECT_EQ(ranks_of("as-asked/suites"), (json{{"cuda", 1}, {"nccl", 1}}));
}

/// Checks what cases/hardware/README.md says about the parts. The script opens no backend, but the
/// parts begin.
TEST_F(CliGateTest, EveryPartChecksWhatItIsFor) {
  make("fast");
  // All parts run in later calls, which keep the options of the first call.
  rankcheck(gate_ + "--seed 5 --cases 7 --timeout 9 --time-budget 0.001 --report r");
  finish_gate("r");
  const auto run_of = [this](const std::string& part) {
    json run = report("r/" + part).at("run");
    EXPECT_EQ(run.at("operation"), "barrier") << part;
    run.erase("operation");
    return run;
  };
  EXPECT_EQ(run_of("cuda"),
            (json{{"suites", {"hardware"}},
                  {"backends", {"cuda"}},
                  {"cases", 3},
                  {"seed", 5},
                  {"devices", 2}}));
  EXPECT_EQ(run_of("suites"),
            (json{{"suites", {"hardware"}}, {"cases", 7}, {"seed", 5}, {"devices", 2}}));
  // Other cases than those of the suites.
  EXPECT_EQ(run_of("soak"),
            (json{{"suites", {"hardware"}}, {"cases", 7}, {"seed", 6}, {"devices", 2}}));
  for (const std::string part : {"cuda", "suites", "soak"}) {
    const json environment = report("r/" + part).at("environment");
    EXPECT_EQ(environment.at("timeout_s"), 9) << part;
    // The budget is that of a call, and the soak has its own.
    EXPECT_EQ(environment.contains("time_budget_s"), part == "soak") << part;
  }
  run_whole("few", "--cases 2");
  EXPECT_EQ(report("few/cuda").at("run").at("cases"), 2);
}

TEST_F(CliGateTest, LeavesOutPartsOfWhichNothingIsSelected) {
  make("fast");
  const auto expect_parts = [this](const std::string& arguments, const std::string& parts) {
    rankcheck(gate_ + "--time-budget 0.001 --report parts " + arguments);
    EXPECT_EQ(parts_of("parts"), parts);
    fs::remove_all(path_to("parts"));
  };
  expect_parts("--ranks 2",
               "links, cuda, nccl 2 ranks, speed, sanitizer, suites, device 0, device 1, soak, ");
  expect_parts("--backend cuda",
               "links, cuda, speed, sanitizer, suites, device 0, device 1, soak, ");
  // With only one device, the suites already check it alone.
  leave_one_device();
  expect_parts("", "links, cuda, nccl 1 rank, nccl 4 ranks, speed, sanitizer, suites, soak, ");
}

TEST_F(CliGateTest, ShowsItsPartsAloneTheDevicesThatTheUserShows) {
  make("fast");
  const std::string note = "case $1 in --ranks) echo \"$CUDA_VISIBLE_DEVICES\" >> shown;; esac";
  for (const char* name : {"cuda", "nccl"}) write_worker(name, note + worker_script);
  // Returns the devices that only some parts see. All other parts see the user's devices.
  const auto shown_alone = [this](const std::string& by_the_user) {
    std::vector<std::string> all;
    std::istringstream lines(text_of("shown"));
    for (std::string line; std::getline(lines, line);) {
      if (line != by_the_user && (all.empty() || all.back() != line)) all.push_back(line);
    }
    EXPECT_TRUE(begins(text_of("shown"), by_the_user + '\n'));
    EXPECT_TRUE(text_of("shown").ends_with('\n' + by_the_user + '\n'));
    fs::remove(path_to("shown"));
    return all;
  };
  run_gate("--operation barrier", "r", "CUDA_VISIBLE_DEVICES=7,GPU-x");
  EXPECT_EQ(shown_alone("7,GPU-x"), (std::vector<std::string>{"7", "GPU-x"}));
  run_gate("--operation barrier", "s", "env -u CUDA_VISIBLE_DEVICES");
  EXPECT_EQ(shown_alone(""), (std::vector<std::string>{"0", "1"}));
}

TEST_F(CliGateTest, SoakTakesWhatIsLeftOfTheCall) {
  make("fast");
  // Returns the seconds of the soak's probes, and of its suites.
  const auto soak_of = [this](const std::string& folder) {
    double links_s = 0;
    std::istringstream lines(text_of(folder + "/journal.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const json note = json::parse(line).value("note", json::object());
      if (!note.contains("probe") || note["probe"]["first"] == 0) continue;
      links_s += note["took_s"].get<double>();
    }
    const double suites_s = report(folder + "/soak")["environment"]["time_budget_s"];
    return std::pair(links_s, suites_s);
  };
  rankcheck(gate_ + "--time-budget 20 --report r");
  // Each of 8 links was probed for one second. Reading the clock takes a little, too.
  const auto [links_s, suites_s] = soak_of("r");
  EXPECT_LE(links_s + suites_s, 20 - 8);
  EXPECT_GT(links_s + suites_s, 20 - 8 - 2);
  EXPECT_NEAR(links_s, suites_s, 2);

  // Without a budget, it takes a minute in all.
  run_whole("s");
  rankcheck("run --resume s");
  const auto [all_links_s, all_suites_s] = soak_of("s");
  EXPECT_NEAR(all_links_s, 30, 2);
  EXPECT_NEAR(all_links_s + all_suites_s, 60, 1);
  rankcheck("report s");
  EXPECT_FALSE(report("s")["environment"].contains("time_budget_s"));
}

TEST_F(CliGateTest, QuickGateProbesInOneProcessAndSaysWhatItLeavesOut) {
  const Outcome outcome = passes("run hardware --quick --report r");
  EXPECT_TRUE(has(outcome.out,
                  "quick gate for hardware passed (exit status 0):\n"
                  "  2 devices, 4 links, 49,152 bytes compared\n"));
  EXPECT_TRUE(outcome.says("Not checked: ")) << outcome.out;
  EXPECT_EQ(text_of("probers"), "begun\n");
  EXPECT_EQ(measured(report("r")), 8);
  EXPECT_EQ(harness::complaints(report("r")), "");
  for (const std::string each : {"junit.xml", "summary.md", "report.html"}) {
    EXPECT_TRUE(exists("r/" + each)) << each;
  }
  const nlohmann::json shown = harness::page::data_of(text_of("r/report.html"))["report"];
  EXPECT_EQ(shown["run"], report("r")["run"]);
  EXPECT_EQ(shown["environment"]["hardware"], report("r")["environment"]["hardware"]);
  EXPECT_EQ(rankcheck("report r").status, 0);
}

TEST_F(CliGateTest, QuickGateIsReplacedOnRequest) {
  const std::string again = "run hardware --quick --report r --overwrite --seed ";
  EXPECT_EQ(rankcheck(again + "1").status, 0) << "there is nothing to replace";
  EXPECT_EQ(rankcheck(again + "2").status, 0);
  EXPECT_EQ(report("r")["run"]["seed"], 2);
  rankcheck(gate_ + "--time-budget 0.001 --report whole");
  const std::string before = text_of("whole/journal.jsonl");
  expect_unable("run hardware --quick --report whole --overwrite",
                "--overwrite: whole: found a whole gate, expected one with --quick");
  EXPECT_EQ(text_of("whole/journal.jsonl"), before);
}

TEST_F(CliGateTest, QuickGateGoesOnAsOne) {
  EXPECT_EQ(rankcheck("run hardware --quick --time-budget 0.001 --report r").status, 2);
  EXPECT_EQ(rankcheck("run --resume r --quick").status, 0);
  EXPECT_EQ(measured(report("r")), 8);
  rankcheck(gate_ + "--time-budget 0.001 --report s");
  expect_unable("run --resume s --quick", "--quick: got a gate that began without it");
}

TEST_F(CliGateTest, QuickGateTakesNoSelection) {
  expect_unable("run hardware --quick --operation barrier --report r",
                R"(--quick: got a selection beside it, {"operation":"barrier"}: expected none)");
  expect_unable("run smoke --quick", "--quick: expected the suite hardware with it");
  EXPECT_FALSE(exists("r"));
}

TEST_F(CliGateTest, KeepsItsKnownDefects) {
  make("k.json",
       R"({"known_version":1,"defects":[{"id":"one","operation":"barrier","reason":"why"}]})");
  expect_unable("run hardware --quick --known k.json --report r",
                "--known: got it beside --quick, which checks links and devices only");
  EXPECT_FALSE(exists("r"));
  make("fast");
  rankcheck(gate_ + "--known k.json --time-budget 0.001 --report r");
  EXPECT_EQ(report("r")["known"][0]["state"], "not_checked") << report("r")["known"];
  EXPECT_EQ(json::parse(text_of("r/known.json"))["defects"][0]["id"], "one");
  // The parts get them from the gate's folder.
  fs::remove(path_to("k.json"));
  finish_gate("r");
  for (const char* part : {"r/suites", "r/soak"}) {
    EXPECT_EQ(report(part)["known"][0]["id"], "one") << part;
  }
}

TEST_F(CliGateTest, QuietGatePrintsTheVerdictAndWhatDidNotPass) {
  make("fast");
  const Outcome outcome = rankcheck(gate_ + "--quiet --time-budget 0.001 --report r");
  EXPECT_TRUE(begins(outcome.out, "rankcheck: the gate for hardware could not be judged"));
  EXPECT_TRUE(has(outcome.out, "\npart soak: skipped: not run"));
}

TEST_F(CliGateTest, RefusesBeforeAnythingIsMeasured) {
  expect_unable("run hardware smoke", "suite: hardware: stands beside another suite");
  expect_unable("run hardware --operation nonsense --report r", "nonsense");
  EXPECT_FALSE(exists("r"));
  for (const std::string each : {"r", "r/soak"}) {
    fs::create_directories(path_to(each));
    make(each + "/journal.jsonl");
    expect_unable(gate_ + "--report r",
                  "--report: " + each + ": contains a run: use --resume or choose another folder");
    fs::remove_all(path_to("r"));
  }
  EXPECT_FALSE(exists("asked"));
  expect_unable("run hardware --resume r", "r/journal.jsonl");
}

/// The signal comes when the soak has probed its links and opens the backends of its suites.
TEST_F(CliGateTest, HearsAnInterruptBetweenItsParts) {
  make("fast");
  run_whole("r");
  make("interrupt", std::to_string(soaked().size()));
  const Outcome outcome = rankcheck("run --resume r --time-budget 20", 128 + 2);
  EXPECT_TRUE(has(outcome.out, "\nsoak: each of"));
  EXPECT_EQ(report("r")["ending"], "interrupted");
}

TEST_F(CliGateTest, RefusesTimesThatAreNone) {
  for (const std::string option : {"--time-budget", "--timeout"}) {
    for (const std::string value : {"nan", "inf"}) {
      expect_unable("run hardware --report r " + option + " " + value,
                    ": got " + value + ", expected a finite decimal number");
    }
    for (const std::string value : {"0", "-1", "1e300"}) {
      expect_unable("run hardware --report r " + option + " " + value,
                    ": expected a number of seconds above 0, at most 31536000");
    }
  }
  EXPECT_FALSE(exists("r"));
}

/// A refusal is one line on stderr, nothing on stdout, and no folder.
TEST_F(CliGateTest, RefusesToBeginWithoutADeviceOrALibrary) {
  make("fast");
  const auto expect_refused = [this](const std::string& arguments, const std::string& why) {
    const Outcome outcome = rankcheck(gate_ + "--report r " + arguments, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "rankcheck: gate hardware: " + why + "\n");
    EXPECT_FALSE(exists("r"));
  };
  const std::string field = R"("unavailable":"")";
  change_worker("nccl", field, field + R"(,"shared_memory":"/dev/shm: expected 136 MiB")");
  expect_refused("",
                 "backend nccl: /dev/shm: expected 136 MiB; use --backend cuda to leave it out");
  // Shared memory is needed only if NCCL's ranks share a device.
  for (const std::string arguments : {"--backend cuda", "--ranks 1..2"}) {
    rankcheck(gate_ + "--time-budget 0.001 --report s " + arguments);
    EXPECT_TRUE(exists("s/report.json")) << arguments;
    fs::remove_all(path_to("s"));
  }
  remove_worker("nccl");
  expect_refused("",
                 "backend nccl: rankcheck-worker-nccl is missing beside rankcheck: install NCCL's "
                 "header (2.28 or newer; Debian: libnccl-dev) and the CUDA Toolkit, and build "
                 "rankcheck from its sources; use --backend cuda to leave it out");
  write_worker("cuda",
               R"(echo '{"unavailable":"no driver","devices":[],"algorithms":)"
               R"([{"operation":"barrier","name":"central","summary":""}]}')");
  expect_refused("", "backend cuda: no driver");
  expect_refused("--backend cuda", "backend cuda: no driver");
  remove_worker("cuda");
  expect_refused(
      "--backend nccl",
      "backend cuda: rankcheck-worker-cuda is missing beside rankcheck: install the CUDA "
      "Toolkit (nvcc) and build rankcheck from its sources");
}

}  // namespace
}  // namespace rankcheck
