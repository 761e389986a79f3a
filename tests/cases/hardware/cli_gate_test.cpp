#include <algorithm>
#include <filesystem>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

/// `rankcheck run hardware` with a script in place of the workers of cuda and nccl. The script
/// reports two devices, answers probes of links, and runs no case.
namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::Outcome;

/// A probe from 0 to 1 by loads takes a minute unless the file `fast` exists. If the file `corrupt`
/// exists, copies from 1 to 0 arrive wrong. The file `stop` holds a number: after this number of
/// soak probes, a probe takes a minute.
constexpr const char* worker = R"sh(#!/bin/sh
device='{"name":"made up","bus":"0","capability":"9.0","memory_bytes":1}'
case "$1" in
--describe)
  echo '{"unavailable":"","devices":['"$device,$device"'],"algorithms":[' \
    '{"operation":"barrier","name":"central","summary":""},' \
    '{"operation":"broadcast","name":"binomial","summary":""}]}' ;;
--probe)
  wrong=0
  case "$2" in
  *'"first":5,'*)
    [ ! -e stop ] || [ $(grep -c '"first":5,' asked) -lt $(cat stop) ] || exec sleep 60 ;;
  esac
  case "$2" in
  *'"from":0,"to":1,'*'"load"'*) [ -e fast ] || exec sleep 60 ;;
  *'"from":1,"to":0,'*) [ ! -e corrupt ] || wrong=1 ;;
  esac
  echo "$2" >> asked
  echo '{"way":"peer","bytes_of_copy":1024,' \
    '"copies":8,"wrong_copies":'$wrong',"wrong_bytes":'$wrong',' \
    '"lost_sources":0,"seconds":[1e-6]}' ;;
*) exit 1 ;;
esac
)sh";

class CliGateTest : public tests::CliTest {
 protected:
  void SetUp() override {
    install();
    for (const char* name : {"cuda", "nccl"}) write_worker(name, worker);
  }

  void write_worker(const std::string& name, const std::string& text) {
    const fs::path path = path_to("bin/rankcheck-worker-" + name);
    harness::write_file(path, text);
    fs::permissions(path, fs::perms::owner_all);
  }
  void remove_worker(const std::string& name) {
    fs::remove(path_to("bin/rankcheck-worker-" + name));
  }

  void make(const std::string& name, const std::string& text = "") {
    harness::write_file(path_to(name), text);
  }

  /// Runs the program in the background as process $p until the shell's `condition` holds. Then
  /// runs `then`.
  Outcome in_background(const std::string& arguments,
                        const std::string& condition,
                        const std::string& then) {
    // Only the command after the first semicolon is the background job.
    return shell("true; " + program_ + " " + arguments +
                 " > out & p=$!; while kill -0 $p 2> /dev/null && ! " + condition +
                 "; do sleep 0.01; done; " + then);
  }

  /// Returns the soak's probes so far.
  [[nodiscard]] std::vector<json> soaked() const {
    std::vector<json> probes;
    std::istringstream lines(text_of("asked"));
    for (std::string line; std::getline(lines, line);) {
      const json probe = json::parse(line);
      if (probe.at("first") > 0) probes.push_back(probe);
    }
    return probes;
  }

  /// A gate with few units. The units do not run, because the script opens no backend.
  const std::string gate_ = "run hardware --operation barrier ";
  Outcome run_whole(const std::string& folder, const std::string& arguments = "") {
    return run_gate("--operation barrier " + arguments, folder);
  }

  /// Returns the number of links over which something was compared.
  static int measured(const json& gate) {
    const json& links = gate.at("environment").at("hardware").at("links");
    return static_cast<int>(std::count_if(links.begin(), links.end(), [](const json& link) {
      return link.at("exposure").at("bytes") > 0;
    }));
  }
};

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

TEST_F(CliGateTest, EndsWhenTheTimeOfTheCallIsOver) {
  make("fast");
  // A single probe takes longer than this budget.
  const Outcome first = rankcheck(gate_ + "--time-budget 0.001 --report r --archive r.zip");
  EXPECT_EQ(first.status, 2) << first.out << first.err;
  // The user can paste this line.
  EXPECT_NE(first.out.find("ended early (time_over), 8 units were not run; to continue: " +
                           program_ + " run --resume r --time-budget 0.001 --archive r.zip\n"),
            std::string::npos)
      << first.out;
  EXPECT_EQ(first.err.find("rankcheck: r: ended early (time_over)"), 0U) << first.err;
  EXPECT_EQ(report("r")["ending"], "time_over");
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_TRUE(exists("r.zip"));
  const auto phases = [this] { return report("r")["environment"]["hardware"]["phases"]; };
  for (const json& each : phases()) {
    EXPECT_EQ(each.at("verdict"), "skipped") << each;
  }
  // The budget is that of the latest call.
  const Outcome second = rankcheck("run --resume r --time-budget 0.002");
  EXPECT_NE(second.out.find("run --resume r --time-budget 0.002\n"), std::string::npos)
      << second.out;
  finish_gate("r");
  EXPECT_EQ(measured(report("r")), 8);
  std::vector<std::string> names;
  const json parts = phases();
  for (const json& each : parts) names.push_back(each.at("name"));
  EXPECT_EQ(names,
            (std::vector<std::string>{"links",
                                      "cuda",
                                      "nccl 1 rank",
                                      "nccl 2 ranks",
                                      "speed",
                                      "sanitizer",
                                      "suites",
                                      "device 0",
                                      "device 1",
                                      "soak"}));
}

TEST_F(CliGateTest, RefusesAnArchiveThatCannotBeWritten) {
  expect_unable(gate_ + "--report r --archive absent/r.zip",
                "--archive: absent/r.zip: expected a file in a writable folder, found");
  expect_unable(gate_ + "--report r --archive r.tar",
                "--archive: r.tar: expected a name that ends with .zip");
  make("other.zip", "no archive");
  expect_unable(gate_ + "--report r --archive other.zip",
                "--archive: other.zip: expected a new file, or an archive to replace");
  EXPECT_EQ(text_of("other.zip"), "no archive");
  EXPECT_FALSE(exists("r"));
}

TEST_F(CliGateTest, KilledItKeepsItsLinksAndGoesOn) {
  in_background(gate_ + "--time-budget 100 --report r",
                "[ \"$(cat asked 2> /dev/null | wc -l)\" = 3 ]",
                "sleep 0.2; kill -9 $p; wait $p;");
  // The report with the doctor's answer is written before the first link is probed.
  EXPECT_EQ(measured(report("r")), 0);
  EXPECT_TRUE(report("r")["environment"]["hardware"]["doctor"].contains("backends"));
  const Outcome told = rankcheck("report r");
  EXPECT_EQ(told.status, 2) << told.out << told.err;
  EXPECT_NE(told.err.find("to continue: " + program_ + " run --resume r"), std::string::npos)
      << told.err;
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
  EXPECT_EQ(rankcheck("report r").status, 2);
  EXPECT_EQ(text_of("r/report.json"), file);
}

TEST_F(CliGateTest, ResumedItsSoakGoesOnAtTheNextLink) {
  make("fast");
  run_whole("r", "--seed 3");
  const std::size_t before = soaked().size();
  make("stop", std::to_string(before + 3));
  in_background("run --resume r --time-budget 4",
                "[ \"$(grep -cs '\"first\":5,' asked)\" = " + std::to_string(before + 3) + " ]",
                "sleep 0.2; kill -9 $p; wait $p;");
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

/// The script logs its arguments in the file `started`.
TEST_F(CliGateTest, HasARankForEveryDevice) {
  make("fast");
  const fs::path suite = cases() / "suites" / "hardware.json";
  harness::write_file(suite, R"({"name":"hardware","summary":"s","entries":[
      {"backends":["cuda"],"cases":1,"ranks":[1,3]},
      {"backends":["nccl"],"cases":1,"ranks":[1,4]}]})");
  const std::string note = "#!/bin/sh\necho \"${0##*-} $*\" >> started";
  for (const char* name : {"cuda", "nccl"})
    write_worker(name, note + std::string(worker).substr(9));
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
  EXPECT_NE(started.find("cuda --ranks 3\n"), std::string::npos) << started;
  EXPECT_NE(started.find("nccl --ranks 2 "), std::string::npos) << started;
  EXPECT_EQ(started.find("nccl --ranks 3 "), std::string::npos) << started;

  // Ranks of NCCL share a device only if there is a single device.
  std::string alone = text_of("bin/rankcheck-worker-cuda");
  alone.erase(alone.find(",$device"), 8);
  write_worker("cuda", alone);
  run_whole("one");
  EXPECT_EQ(report("one").at("run").at("devices"), 1);
  EXPECT_EQ(ranks_of("one/suites"), (json{{"cuda", 3}, {"nccl", 4}}));

  run_whole("as-asked", "--ranks 1");
  EXPECT_EQ(ranks_of("as-asked/suites"), (json{{"cuda", 1}, {"nccl", 1}}));
}

TEST_F(CliGateTest, PartThatWasKilledBeforeItsHeaderBeginsAnew) {
  make("fast");
  rankcheck(gate_ + "--time-budget 0.001 --report r");
  fs::create_directory(path_to("r/cuda"));
  make("r/cuda/journal.jsonl", "{\"journal");
  finish_gate("r");
  EXPECT_EQ(report("r/cuda")["ending"], "completed");
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
  const auto parts_of = [this](const std::string& arguments) {
    rankcheck(gate_ + "--time-budget 0.001 --report parts " + arguments);
    std::string names;
    const json parts = report("parts")["environment"]["hardware"]["phases"];
    for (const json& each : parts) names += each.at("name").get<std::string>() + ", ";
    fs::remove_all(path_to("parts"));
    return names;
  };
  EXPECT_EQ(parts_of("--ranks 2"),
            "links, cuda, nccl 2 ranks, speed, sanitizer, suites, device 0, device 1, soak, ");
  EXPECT_EQ(parts_of("--backend cuda"),
            "links, cuda, speed, sanitizer, suites, device 0, device 1, soak, ");
  // With only one device, the suites already check it alone.
  std::string alone = worker;
  alone.erase(alone.find(",$device"), 8);
  write_worker("cuda", alone);
  EXPECT_EQ(parts_of(""),
            "links, cuda, nccl 1 rank, nccl 4 ranks, speed, sanitizer, suites, soak, ");
}

TEST_F(CliGateTest, ShowsItsPartsAloneTheDevicesThatTheUserShows) {
  make("fast");
  const std::string note =
      "#!/bin/sh\ncase $1 in --ranks) echo \"$CUDA_VISIBLE_DEVICES\" >> shown;; esac\n";
  for (const char* name : {"cuda", "nccl"}) {
    write_worker(name, note + std::string(worker).substr(10));
  }
  // Returns the devices that only some parts see. All other parts see the user's devices.
  const auto shown_alone = [this](const std::string& by_the_user) {
    std::vector<std::string> all;
    std::istringstream lines(text_of("shown"));
    for (std::string line; std::getline(lines, line);) {
      if (line != by_the_user && (all.empty() || all.back() != line)) all.push_back(line);
    }
    EXPECT_EQ(text_of("shown").find(by_the_user + '\n'), 0U);
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
  const auto soaks_in = [this](const std::string& folder) {
    std::vector<double> all;
    std::istringstream lines(text_of(folder + "/journal.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const json answer = json::parse(line, nullptr, false);
      if (answer.contains("soak_s")) all.push_back(answer.at("soak_s"));
    }
    return all;
  };
  in_background(gate_ + "--time-budget 100 --report r",
                "grep -qs soak_s r/journal.jsonl",
                "kill -9 $p; wait $p;");
  ASSERT_EQ(soaks_in("r").size(), 1U);
  EXPECT_GT(soaks_in("r")[0], 60);
  EXPECT_LT(soaks_in("r")[0], 100);

  // Without a budget, it takes a minute in all.
  run_whole("s");
  const std::vector<double> before = soaks_in("s");
  in_background("run --resume s",
                "[ $(grep -c soak_s s/journal.jsonl) = " + std::to_string(before.size() + 1) + " ]",
                "kill -9 $p; wait $p;");
  const std::vector<double> after = soaks_in("s");
  ASSERT_EQ(after.size(), before.size() + 1);
  EXPECT_NEAR(std::accumulate(after.begin(), after.end(), 0.0), 60, 1e-3);
  rankcheck("report s");
  EXPECT_FALSE(report("s")["environment"].contains("time_budget_s"));
}

TEST_F(CliGateTest, RefusesBeforeAnythingIsMeasured) {
  expect_unable("run hardware smoke", "suite: hardware: expected no other suite");
  expect_unable("run hardware --operation nonsense --report r", "nonsense");
  EXPECT_FALSE(exists("r"));
  for (const char* each : {"r", "r/soak"}) {
    fs::create_directories(path_to(each));
    make(std::string(each) + "/journal.jsonl");
    expect_unable(gate_ + "--report r",
                  std::string("--report: ") + each +
                      ": contains a run: use --resume or choose another folder");
    fs::remove_all(path_to("r"));
  }
  EXPECT_FALSE(exists("asked"));
  expect_unable("run hardware --resume r", "r/journal.jsonl");
}

/// Only the gate knows under which conditions a part must run.
TEST_F(CliGateTest, RefusesToGoOnWithAPartAlone) {
  make("fast");
  const Outcome gate = run_whole("r");
  for (const char* part : {"r/suites", "r/soak", "r/nccl-2", "r/suites/"}) {
    expect_unable(std::string("run --resume ") + part,
                  std::string("--resume: ") + part + ": is a part of a gate: expected --resume r");
  }
  EXPECT_EQ(gate.out.find("--resume r/"), std::string::npos) << gate.out;
  // These are the user's own runs beside the gate's parts.
  for (const char* own : {"r/soak-mine", "r/device-x", "r/device", "r/suites-1"}) {
    expect_unable(std::string("run --resume ") + own,
                  std::string("cannot read: ") + own + "/journal.jsonl");
  }
  EXPECT_EQ(rankcheck("report r/soak").err.find("--resume r/"), std::string::npos);
}

/// The signal comes when the soak has probed its links, about when its suites begin.
TEST_F(CliGateTest, HearsAnInterruptBetweenItsParts) {
  make("fast");
  run_whole("r");
  const Outcome outcome = in_background("run --resume r --time-budget 2",
                                        "grep -qs '^soak: each of' out",
                                        "kill -INT $p; wait $p; echo \"status $?\"");
  EXPECT_NE(outcome.out.find("status 130"), std::string::npos) << outcome.out;
  EXPECT_EQ(report("r")["ending"], "interrupted");
}

TEST_F(CliGateTest, RefusesTimesThatAreNone) {
  for (const std::string option : {"--time-budget", "--timeout"}) {
    for (const std::string value : {"nan", "inf"}) {
      expect_unable("run hardware --report r " + option + " " + value,
                    ": expected a decimal number, got " + value);
    }
    for (const std::string value : {"0", "-1", "1e300"}) {
      expect_unable("run hardware --report r " + option + " " + value,
                    ": expected a number of seconds above 0, at most 31536000");
    }
  }
  EXPECT_FALSE(exists("r"));
}

TEST_F(CliGateTest, GoesOnOnlyAsItBegan) {
  make("fast");
  rankcheck(gate_ + "--time-budget 0.1 --seed 5 --report r");
  expect_unable("run hardware --resume r --seed 6", "--resume: r: expected seed to be 5");
  expect_unable("run smoke --resume r", "--resume: r: expected suites to be [\"hardware\"]");
  std::string others = worker;
  others.replace(others.find("made up"), 7, "made new");
  write_worker("cuda", others);
  expect_unable("run --resume r", "other devices need a folder of their own (--report)");
  std::string alone = worker;
  alone.erase(alone.find(",$device"), 8);
  write_worker("cuda", alone);
  expect_unable("run --resume r", "other devices need a folder of their own (--report)");

  write_worker("cuda", worker);
  const std::string journal = text_of("r/journal.jsonl");
  harness::write_file(path_to("r/journal.jsonl"), harness::without_checksums(journal));
  expect_unable("run --resume r", "checksum");
  EXPECT_EQ(text_of("r/journal.jsonl"), harness::without_checksums(journal));
  harness::write_file(path_to("r/journal.jsonl"), journal);
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
  expect_unable("run --resume r", "r/suites/journal.jsonl: line 1: crc32: expected");
  const std::string checksum = ",\"crc32\":\"";
  std::string without = whole;
  for (std::size_t at = 0; (at = without.find(checksum)) != std::string::npos;) {
    without.erase(at, checksum.size() + 9);
  }
  make(journal, without);
  expect_unable("run --resume r", "r: suites: journal.jsonl: line 1: expected a checksum");
  EXPECT_EQ(text_of("r/journal.jsonl"), gate);
}

/// A refusal is one line on stderr, nothing on stdout, and no folder.
TEST_F(CliGateTest, RefusesToBeginWithoutADeviceOrALibrary) {
  make("fast");
  const auto expect_refused = [this](const std::string& arguments, const std::string& why) {
    const Outcome outcome = rankcheck(gate_ + "--report r " + arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "rankcheck: gate hardware: " + why + "\n");
    EXPECT_FALSE(exists("r"));
  };
  std::string short_of_memory = worker;
  const std::string field = R"("unavailable":"")";
  short_of_memory.replace(short_of_memory.find(field),
                          field.size(),
                          field + R"(,"shared_memory":"/dev/shm: expected 136 MiB")");
  write_worker("nccl", short_of_memory);
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
                 "again; use --backend cuda to leave it out");
  write_worker("cuda",
               "#!/bin/sh\necho '{\"unavailable\":\"no driver\",\"devices\":[],"
               "\"algorithms\":[{\"operation\":\"barrier\",\"name\":\"central\","
               "\"summary\":\"\"}]}'\n");
  expect_refused("", "backend cuda: no driver");
  expect_refused("--backend cuda", "backend cuda: no driver");
  remove_worker("cuda");
  expect_refused(
      "--backend nccl",
      "backend cuda: rankcheck-worker-cuda is missing beside rankcheck: install the CUDA "
      "Toolkit (nvcc) and build again");
}

}  // namespace
}  // namespace rankcheck
