#include <chrono>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "harness/worker/protocol.hpp"

#include "tests/cases/cli.hpp"

/// Every run ends, whatever its worker does. The workers are shell scripts.
namespace rankcheck::tests {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;
namespace worker = harness::worker;

/// Begins a message that never ends.
constexpr const char* byte_now_and_then =
    R"(printf '\377\0\0\0'; while :; do printf x; sleep 0.2; done)";

class CliEndingsTest : public CliTest {
 protected:
  void SetUp() override {
    worker::Hello hello;
    hello.world = 2;
    hello.ranks = {0, 1};
    hello.traits.name = "fake";
    hello.algorithms = {{{"all_reduce", "fake", ""}, {}}};
    worker::Connection file(-1, ::open(path_to("hello").c_str(), O_CREAT | O_WRONLY, 0600));
    ASSERT_TRUE(file.send(to_json(hello)));
    fs::create_directory(path_to("tmp"));
  }

  /// Writes a worker that refuses no case. It executes the script when it gets the first case to
  /// run.
  void write_worker(const std::string& script) {
    write_script("worker", R"(cat hello
      question=0
      while message=$(dd bs=65536 count=1 2> /dev/null | tr -d '\0'); do
        case "$message" in
          *'"refuses"'*) ;;
          *) break ;;
        esac
        question=$((question + 1))
        answer="{\"refusal\":$question,\"reason\":\"\"}"
        printf "\\$(printf %03o ${#answer})\0\0\0%s" "$answer"
      done
      test -n "$message" || exit 0
      )" + script);
  }

  /// Runs the worker's only operation under `timeout` with these arguments, which choose the
  /// signal.
  Outcome run(const std::string& timeout, const std::string& options = "") {
    const auto start = Clock::now();
    Outcome outcome =
        shell("TMPDIR=$PWD/tmp timeout --preserve-status " + timeout + ' ' + program_ +
              " run --operation all_reduce --property agrees_with_reference " +
              "--backend command:./worker --report r " + options);
    took_s_ = std::chrono::duration<double>(Clock::now() - start).count();
    return outcome;
  }

  /// Expects that the run ended within 5 s after `after_s` seconds and left no temporary folder.
  void expect_ended_in_time(double after_s) const {
    EXPECT_LT(took_s_, after_s + 5);
    EXPECT_TRUE(fs::is_empty(path_to("tmp")));
  }

  void expect_interrupted_report() {
    const nlohmann::json said = report("r");
    EXPECT_EQ(said["ending"], "interrupted");
    EXPECT_EQ(said["exit_status"], 2);
    EXPECT_GT(said["not_run"], 0);
    EXPECT_TRUE(said["findings"].empty()) << said["findings"];
  }

  double took_s_ = 0;
};

TEST_F(CliEndingsTest, TermDuringAHangEndsTheRunWithItsReports) {
  write_worker("trap '' TERM; while :; do sleep 1; done");
  const Outcome outcome = run("--foreground 1");
  EXPECT_EQ(outcome.status, 128 + 15) << outcome.out << outcome.err;
  expect_ended_in_time(1);
  expect_interrupted_report();
}

TEST_F(CliEndingsTest, TermEndsTheRunThoughTheWorkerSendsAByteNowAndThen) {
  write_worker(byte_now_and_then);
  const Outcome outcome = run("--foreground 1");
  EXPECT_EQ(outcome.status, 128 + 15) << outcome.out << outcome.err;
  expect_ended_in_time(1);
  expect_interrupted_report();
}

TEST_F(CliEndingsTest, AByteNowAndThenIsNoWord) {
  write_worker(byte_now_and_then);
  const Outcome outcome = run("--foreground 60", "--timeout 0.5 --fail-fast");
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_EQ(report("r")["findings"][0]["verdict"], "hung");
}

TEST_F(CliEndingsTest, TermWhileABackendOpensEndsTheProgramInOneLine) {
  write_script("worker", "trap '' TERM; while :; do sleep 1; done");
  const Outcome outcome = run("--foreground 1");
  EXPECT_EQ(outcome.status, 128 + 15) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "rankcheck: interrupted before the run began\n");
  expect_ended_in_time(1);
}

TEST_F(CliEndingsTest, WorkersLeaveNoFolderHoweverTheyEnd) {
  const std::string litter = "echo text > $TMPDIR/file; ";
  for (const std::string& script : {litter + "kill -9 $$", litter + "exit 3", litter}) {
    write_worker(script);
    run("--foreground 60", "--fail-fast");
    EXPECT_TRUE(fs::is_empty(path_to("tmp"))) << script;
    fs::remove_all(path_to("r"));
    // The worker now ends the same way at its start.
    write_script("worker", script);
    EXPECT_EQ(run("--foreground 60").status, 2);
    EXPECT_TRUE(fs::is_empty(path_to("tmp"))) << script;
  }
}

TEST_F(CliEndingsTest, NextStartRemovesTheFolderOfAKilledRun) {
  write_worker("while :; do sleep 1; done");
  run("--foreground -s KILL 2");
  EXPECT_FALSE(fs::is_empty(path_to("tmp")));
  fs::remove_all(path_to("r"));
  run("--foreground 2");
  EXPECT_TRUE(fs::is_empty(path_to("tmp")));
}

TEST_F(CliEndingsTest, TermDuringAReplayEndsItAndLeavesNoFolder) {
  write_worker("trap '' TERM; while :; do sleep 1; done");
  const Outcome outcome =
      shell("TMPDIR=$PWD/tmp timeout --preserve-status --foreground 1 " + program_ +
            R"( replay '{"operation":"all_reduce","backend":"command:./worker","ranks":2,)"
            R"("count":4,"type":"f32","op":"sum"}')");
  EXPECT_EQ(outcome.status, 128 + 15) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "rankcheck: interrupted before there was a result\n");
  EXPECT_TRUE(fs::is_empty(path_to("tmp")));
}

/// Without --foreground, timeout signals the program and then its whole process group.
TEST_F(CliEndingsTest, ASignalThatComesTwiceAtOnceIsOne) {
  write_worker("while :; do sleep 1; done");
  const Outcome outcome = run("1");
  EXPECT_EQ(outcome.status, 128 + 15) << outcome.out << outcome.err;
  expect_ended_in_time(1);
  expect_interrupted_report();
}

}  // namespace
}  // namespace rankcheck::tests
