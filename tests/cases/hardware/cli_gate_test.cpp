#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"
#include "tests/harness/schema.hpp"

/// `rankcheck run hardware` where a script says that there are two devices: it answers for links,
/// and runs no case.
namespace rankcheck {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using tests::Outcome;

/// The link from 0 to 1 takes a minute by loads unless there is a file `fast`; with a file
/// `corrupt`, what goes from 1 to 0 arrives wrong; with a file `stop`, the fourth probe of a soak
/// takes a minute.
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
  *'"first":5,'*) [ ! -e stop ] || [ $(grep -c '"first":5,' asked) -lt 3 ] || exec sleep 60 ;;
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
    const fs::path path = path_to("bin/rankcheck-worker-cuda");
    harness::write_file(path, worker);
    fs::permissions(path, fs::perms::owner_all);
  }

  void make(const std::string& name) { harness::write_file(path_to(name), ""); }

  /// Links of which something was compared.
  static int measured(const json& gate) {
    const json& links = gate.at("environment").at("hardware").at("links");
    return static_cast<int>(std::count_if(links.begin(), links.end(), [](const json& link) {
      return link.at("exposure").at("bytes") > 0;
    }));
  }
};

TEST_F(CliGate, ProcessAndFileSayTheSame) {
  make("fast");
  // The script runs no case.
  EXPECT_EQ(rankcheck("run hardware --time-budget 0.1 --report r").status, 2);
  EXPECT_EQ(report("r")["exit_status"], 2);
  EXPECT_EQ(report("r")["environment"]["hardware"]["status"], 2);
  EXPECT_EQ(harness::complaints(report("r")), "");
  make("corrupt");
  const Outcome outcome = rankcheck("run hardware --time-budget 0.1 --report corrupt-link");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_EQ(report("corrupt-link")["exit_status"], 1);
  EXPECT_EQ(report("corrupt-link")["environment"]["hardware"]["status"], 1);
  EXPECT_EQ(rankcheck("report corrupt-link").status, 1);
}

TEST_F(CliGate, KilledItKeepsItsLinksAndGoesOn) {
  // What is behind the first semicolon is not part of the background job.
  shell("true; " + program_ +
        " run hardware --time-budget 0.1 --report r > out & p=$!; "
        "while kill -0 $p && [ \"$(cat asked 2> /dev/null | wc -l)\" != 3 ]; do sleep 0.05; done; "
        "sleep 0.2; kill -9 $p; wait $p;");
  ASSERT_FALSE(exists("r/report.json"));
  const Outcome told = rankcheck("report r");
  EXPECT_EQ(told.status, 2) << told.out << told.err;
  EXPECT_NE(told.err.find("to go on: rankcheck run --resume r"), std::string::npos) << told.err;
  EXPECT_EQ(report("r")["ending"], "killed");
  EXPECT_EQ(harness::complaints(report("r")), "");
  EXPECT_EQ(measured(report("r")), 3);

  make("fast");
  const Outcome resumed = rankcheck("run --resume r");
  EXPECT_EQ(resumed.status, 2) << resumed.out << resumed.err;
  EXPECT_EQ(report("r")["ending"], "completed");
  EXPECT_EQ(measured(report("r")), 8);
  // Of every link once, and only then again.
  const std::string asked = text_of("asked");
  const std::size_t again = asked.find(R"("from":0,"to":0,)", asked.find(R"("from":0,"to":1,)"));
  EXPECT_EQ(std::count(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(again), '\n'), 8);
  const std::string file = text_of("r/report.json");
  EXPECT_EQ(rankcheck("report r").status, 2);
  EXPECT_EQ(text_of("r/report.json"), file);
}

TEST_F(CliGate, ResumedItsSoakGoesOnAtTheNextLink) {
  make("fast");
  make("stop");
  shell("true; " + program_ +
        " run hardware --seed 3 --time-budget 0.5 --report r > out & p=$!; "
        "while kill -0 $p && [ \"$(grep -cs '\"first\":5,' asked)\" != 3 ]; do sleep 0.05; done; "
        "sleep 0.2; kill -9 $p; wait $p;");
  fs::remove(path_to("stop"));
  const auto soaked = [this] {
    std::vector<json> probes;
    std::istringstream lines(text_of("asked"));
    for (std::string line; std::getline(lines, line);) {
      const json probe = json::parse(line);
      if (probe.at("first") > 0) probes.push_back(probe);
    }
    return probes;
  };
  ASSERT_EQ(soaked().size(), 3U);
  EXPECT_EQ(rankcheck("run --resume r").status, 2);
  const std::size_t before = soaked().size();
  EXPECT_GT(before, 3U);
  const Outcome longer = rankcheck("run --resume r --time-budget 1");
  EXPECT_EQ(longer.status, 2) << longer.out << longer.err;
  const std::vector<json> probes = soaked();
  EXPECT_GT(probes.size(), before);
  for (std::size_t p = 0; p < probes.size(); ++p) {
    const json& each = probes[p];
    const int link = 4 * each.at("from").get<int>() + 2 * each.at("to").get<int>() +
                     (each.at("method") == "load" ? 1 : 0);
    EXPECT_EQ(link, (3 + p) % 8) << p;
    EXPECT_EQ(each.at("seed"), 4 + p / 8) << p;
  }
  EXPECT_EQ(harness::complaints(report("r")), "");
}

/// The script stands for NCCL's worker, too; how it is started is told in a file.
TEST_F(CliGate, HasARankForEveryDevice) {
  make("fast");
  const fs::path suite = cases() / "suites" / "hardware.json";
  harness::write_file(suite, R"({"name":"hardware","summary":"s","entries":[
      {"backends":["cuda"],"cases":1,"ranks":[1,3]},
      {"backends":["nccl"],"cases":1,"ranks":[1,4]}]})");
  for (const char* name : {"bin/rankcheck-worker-cuda", "bin/rankcheck-worker-nccl"}) {
    const std::string note = "#!/bin/sh\necho \"${0##*-} $*\" >> started";
    harness::write_file(path_to(name), note + std::string(worker).substr(9));
    fs::permissions(path_to(name), fs::perms::owner_all);
  }
  const auto ranks_of = [this](const std::string& folder) {
    json most;
    const json findings = report(folder).at("findings");
    for (const json& each : findings) {
      const json& unit = each.at("unit");
      most[unit.at("backend").get<std::string>()] = unit.at("ranks").at(1);
    }
    return most;
  };
  const std::string options = "run hardware --time-budget 0.1 --operation barrier --report ";
  rankcheck(options + "two");
  EXPECT_EQ(ranks_of("two/suites"), (json{{"cuda", 3}, {"nccl", 2}}));
  EXPECT_EQ(ranks_of("two/soak"), ranks_of("two/suites"));
  EXPECT_EQ(report("two").at("run").at("devices"), 2);
  EXPECT_EQ(harness::complaints(report("two/suites")), "");
  // No more of one backend's ranks are started than its own cases have.
  const std::string started = text_of("started");
  EXPECT_NE(started.find("cuda --ranks 3\n"), std::string::npos) << started;
  EXPECT_NE(started.find("nccl --ranks 2 "), std::string::npos) << started;
  EXPECT_EQ(started.find("nccl --ranks 3 "), std::string::npos) << started;

  // Ranks of NCCL share a device only where there is no other.
  std::string alone = text_of("bin/rankcheck-worker-cuda");
  alone.erase(alone.find(",$device"), 8);
  harness::write_file(path_to("bin/rankcheck-worker-cuda"), alone);
  fs::permissions(path_to("bin/rankcheck-worker-cuda"), fs::perms::owner_all);
  rankcheck(options + "one");
  EXPECT_EQ(report("one").at("run").at("devices"), 1);
  EXPECT_EQ(ranks_of("one/suites"), (json{{"cuda", 3}, {"nccl", 4}}));

  rankcheck(options + "as-asked --ranks 1");
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
        "run hardware --report r",
        std::string("--report: ") + each + ": holds a run: --resume it or choose another folder");
    fs::remove_all(path_to("r"));
  }
  EXPECT_FALSE(exists("asked"));
  expect_unable("run hardware --resume r", "r/journal.jsonl");
}

/// What a part is to run under, only the gate knows.
TEST_F(CliGate, RefusesToGoOnWithAPartAlone) {
  make("fast");
  const Outcome gate = rankcheck("run hardware --time-budget 0.1 --report r");
  for (const char* part : {"r/suites", "r/soak", "r/suites/"}) {
    expect_unable(std::string("run --resume ") + part,
                  std::string("--resume: ") + part + ": is a part of a gate: expected --resume r");
  }
  EXPECT_EQ(gate.out.find("--resume r/"), std::string::npos) << gate.out;
  // A run of the user's own beside them.
  expect_unable("run --resume r/soak-mine", "cannot read: r/soak-mine/journal.jsonl");
  expect_unable("run --resume r/device-x", "cannot read: r/device-x/journal.jsonl");
  EXPECT_EQ(rankcheck("report r/soak").err.find("--resume r/"), std::string::npos);
}

/// The signal comes when the soak's links are over, about when its suites begin.
TEST_F(CliGate, HearsAnInterruptBetweenItsParts) {
  make("fast");
  // What the gate prints is read line by line, and the signal sent at once.
  const Outcome outcome =
      shell("true; " + program_ +
            " run hardware --time-budget 4 --report r > out & p=$!; "
            "while kill -0 $p 2> /dev/null && ! grep -qs '^soak: each of' out; do :; done; "
            "kill -INT $p; wait $p; echo \"status $?\"");
  EXPECT_NE(outcome.out.find("status 130"), std::string::npos) << outcome.out;
  EXPECT_EQ(report("r")["ending"], "interrupted");
}

TEST_F(CliGate, RefusesTimesThatAreNone) {
  for (const std::string option : {"--time-budget", "--timeout"}) {
    for (const std::string value : {"nan", "inf", "0", "-1", "1e300"}) {
      expect_unable("run hardware --report r " + option + " " + value,
                    ": expected a number of seconds above 0, at most 31536000");
    }
  }
  EXPECT_FALSE(exists("r"));
}

TEST_F(CliGate, GoesOnOnlyAsItBegan) {
  make("fast");
  rankcheck("run hardware --time-budget 0.1 --seed 5 --report r");
  expect_unable("run hardware --resume r --seed 6", "--resume: r: expected seed to be 5");
  expect_unable("run smoke --resume r", "--resume: r: expected suites to be [\"hardware\"]");
  expect_unable("run --resume r --time-budget 0.05",
                "expected --time-budget to be 0.1 as before, or more, got 0.05");
  harness::write_file(path_to("bin/rankcheck-worker-cuda"),
                      "#!/bin/sh\necho '{\"unavailable\":\"no driver\",\"devices\":[],"
                      "\"algorithms\":[{\"operation\":\"barrier\",\"name\":\"central\","
                      "\"summary\":\"\"}]}'\n");
  expect_unable("run --resume r", "expected devices to be [{");
}

}  // namespace
}  // namespace rankcheck
