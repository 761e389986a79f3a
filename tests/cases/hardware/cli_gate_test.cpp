#include <algorithm>
#include <filesystem>
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

class CliGate : public tests::CliTest {
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

TEST_F(CliGate, ProcessAndFileSayTheSame) {
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

TEST_F(CliGate, EndsWhenTheTimeOfTheCallIsOver) {
  make("fast");
  // A single probe takes longer than this budget.
  const Outcome first = rankcheck(gate_ + "--time-budget 0.001 --report r --archive r.zip");
  EXPECT_EQ(first.status, 2) << first.out << first.err;
  // The user can paste this line.
  EXPECT_NE(first.out.find("ended early (time_over), 8 units were not run; to go on: " + program_ +
                           " run --resume r --time-budget 0.001 --archive r.zip\n"),
            std::string::npos)
      << first.out;
  EXPECT_EQ(report("r")["ending"], "time_over");
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_TRUE(exists("r.zip"));
  const auto phases = [this] { return report("r")["environment"]["hardware"]["phases"]; };
  for (const json& each : phases()) {
    EXPECT_EQ(each.at("verdict"), "skipped") << each;
  }
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

TEST_F(CliGate, RefusesAnArchiveThatCannotBeWritten) {
  expect_unable(gate_ + "--report r --archive absent/r.zip",
                "--archive: absent/r.zip: expected a file in a folder that may be written, found");
  expect_unable(gate_ + "--report r --archive r.tar",
                "--archive: r.tar: expected a name that ends with .zip");
  make("other.zip", "no archive");
  expect_unable(gate_ + "--report r --archive other.zip",
                "--archive: other.zip: expected a new file, or an archive to replace");
  EXPECT_EQ(text_of("other.zip"), "no archive");
  EXPECT_FALSE(exists("r"));
}

TEST_F(CliGate, KilledItKeepsItsLinksAndGoesOn) {
  in_background(gate_ + "--time-budget 100 --report r",
                "[ \"$(cat asked 2> /dev/null | wc -l)\" = 3 ]",
                "sleep 0.2; kill -9 $p; wait $p;");
  // The report with the doctor's answer is written before the first link is probed.
  EXPECT_EQ(measured(report("r")), 0);
  EXPECT_TRUE(report("r")["environment"]["hardware"]["doctor"].contains("backends"));
  const Outcome told = rankcheck("report r");
  EXPECT_EQ(told.status, 2) << told.out << told.err;
  EXPECT_NE(told.err.find("to go on: " + program_ + " run --resume r"), std::string::npos)
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

TEST_F(CliGate, ResumedItsSoakGoesOnAtTheNextLink) {
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
TEST_F(CliGate, HasARankForEveryDevice) {
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

TEST_F(CliGate, RefusesBeforeAnythingIsMeasured) {
  expect_unable("run hardware smoke", "suite: hardware: expected no other suite beside it");
  expect_unable("run hardware --operation nonsense --report r", "nonsense");
  EXPECT_FALSE(exists("r"));
  for (const char* each : {"r", "r/soak"}) {
    fs::create_directories(path_to(each));
    make(std::string(each) + "/journal.jsonl");
    expect_unable(
        gate_ + "--report r",
        std::string("--report: ") + each + ": holds a run: --resume it or choose another folder");
    fs::remove_all(path_to("r"));
  }
  EXPECT_FALSE(exists("asked"));
  expect_unable("run hardware --resume r", "r/journal.jsonl");
}

/// Only the gate knows under which conditions a part must run.
TEST_F(CliGate, RefusesToGoOnWithAPartAlone) {
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
TEST_F(CliGate, HearsAnInterruptBetweenItsParts) {
  make("fast");
  run_whole("r");
  const Outcome outcome = in_background("run --resume r --time-budget 2",
                                        "grep -qs '^soak: each of' out",
                                        "kill -INT $p; wait $p; echo \"status $?\"");
  EXPECT_NE(outcome.out.find("status 130"), std::string::npos) << outcome.out;
  EXPECT_EQ(report("r")["ending"], "interrupted");
}

TEST_F(CliGate, RefusesTimesThatAreNone) {
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

TEST_F(CliGate, GoesOnOnlyAsItBegan) {
  make("fast");
  rankcheck(gate_ + "--time-budget 0.1 --seed 5 --report r");
  expect_unable("run hardware --resume r --seed 6", "--resume: r: expected seed to be 5");
  expect_unable("run smoke --resume r", "--resume: r: expected suites to be [\"hardware\"]");
  std::string alone = worker;
  alone.erase(alone.find(",$device"), 8);
  write_worker("cuda", alone);
  expect_unable("run --resume r", "other devices need a folder of their own (--report)");
}

TEST_F(CliGate, RefusesToGoOnWithAPartThatHasChanged) {
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
TEST_F(CliGate, RefusesToBeginWithoutADeviceOrALibrary) {
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
  expect_refused("", "backend nccl: /dev/shm: expected 136 MiB; --backend cuda does without it");
  remove_worker("nccl");
  expect_refused("",
                 "backend nccl: rankcheck-worker-nccl is missing beside rankcheck: install NCCL's "
                 "header (2.28 or newer; Debian: libnccl-dev) and the CUDA Toolkit, and build "
                 "again; --backend cuda does without it");
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
