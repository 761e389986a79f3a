#include <filesystem>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>

#include "harness/worker/protocol.hpp"

#include "tests/cases/cli.hpp"

/// Every run ends, whatever its worker does. The workers are shell scripts.
namespace rankcheck::tests {
namespace {

namespace fs = std::filesystem;
namespace worker = harness::worker;

/// Sends the signal to the program, which started the worker, and then waits for ever.
const std::string end_program = "kill -TERM $PPID; exec tail -f /dev/null";

/// Does the same, and hears no signal itself.
const std::string end_program_and_stay = "trap '' TERM; " + end_program;

/// Begins a message, and sends a byte of it now and then. The message has so many bytes that it
/// never ends. A byte takes as long as a process.
const std::string byte_now_and_then = R"(printf '\377\377\177\0'; while :; do printf x; (:); done)";

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

  /// Runs the worker's only operation. By default, the program does not lose its patience.
  Outcome run(const std::string& options = forever) {
    return with("TMPDIR=$PWD/tmp",
                "--start-timeout 600 run --operation all_reduce --property "
                "agrees_with_reference --backend command:./worker --report r " +
                    options);
  }
  inline static const std::string forever = " --timeout 1000000 ";

  /// Expects that a signal ended the run, and that it left its reports and no temporary folder.
  void expect_terminated(const Outcome& outcome) {
    EXPECT_EQ(outcome.status, 128 + 15) << outcome.out << outcome.err;
    EXPECT_TRUE(fs::is_empty(path_to("tmp")));
    expect_interrupted_report();
  }

  void expect_interrupted_report() {
    const nlohmann::json said = report("r");
    EXPECT_EQ(said["ending"], "interrupted");
    EXPECT_EQ(said["exit_status"], 2);
    EXPECT_GT(said["not_run"], 0);
    EXPECT_TRUE(said["findings"].empty()) << said["findings"];
  }
};

TEST_F(CliEndingsTest, TermDuringAHangEndsTheRunWithItsReports) {
  write_worker(end_program_and_stay);
  expect_terminated(run());
}

TEST_F(CliEndingsTest, TermEndsTheRunThoughTheWorkerSendsAByteNowAndThen) {
  write_worker("kill -TERM $PPID; " + byte_now_and_then);
  expect_terminated(run());
}

TEST_F(CliEndingsTest, TermWhileABackendOpensEndsTheProgramInOneLine) {
  write_script("worker", end_program_and_stay);
  const Outcome outcome = run();
  EXPECT_EQ(outcome.status, 128 + 15) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.err, "rankcheck: interrupted before the run began\n");
  EXPECT_TRUE(fs::is_empty(path_to("tmp")));
}

TEST_F(CliEndingsTest, WorkersLeaveNoFolderHoweverTheyEnd) {
  const std::string litter = "echo text > $TMPDIR/file; ";
  for (const std::string& script : {litter + "kill -9 $$", litter + "exit 3", litter}) {
    write_worker(script);
    run("--fail-fast");
    EXPECT_TRUE(fs::is_empty(path_to("tmp"))) << script;
    fs::remove_all(path_to("r"));
    // The worker now ends the same way at its start.
    write_script("worker", script);
    EXPECT_EQ(run().status, 2);
    EXPECT_TRUE(fs::is_empty(path_to("tmp"))) << script;
  }
}

TEST_F(CliEndingsTest, NextStartRemovesTheFolderOfAKilledRun) {
  write_worker("kill -KILL $PPID");
  run();
  EXPECT_FALSE(fs::is_empty(path_to("tmp")));
  fs::remove_all(path_to("r"));
  write_worker(end_program);
  run();
  EXPECT_TRUE(fs::is_empty(path_to("tmp")));
}

TEST_F(CliEndingsTest, TermDuringAReplayEndsItAndLeavesNoFolder) {
  write_worker(end_program_and_stay);
  const Outcome outcome =
      with("TMPDIR=$PWD/tmp",
           "replay" + forever +
               R"('{"operation":"all_reduce","backend":"command:./worker","ranks":2,)"
               R"("count":4,"type":"f32","op":"sum"}')",
           128 + 15);
  EXPECT_EQ(outcome.err, "rankcheck: interrupted before there was a result\n");
  EXPECT_TRUE(fs::is_empty(path_to("tmp")));
}

/// `timeout` signals a program and then its whole process group.
TEST_F(CliEndingsTest, ASignalThatComesTwiceAtOnceIsOne) {
  write_worker("kill -TERM $PPID $PPID; exec tail -f /dev/null");
  expect_terminated(run());
}

}  // namespace
}  // namespace rankcheck::tests
