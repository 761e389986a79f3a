#include "cases/backends/worker_command.hpp"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::cases {
namespace {

/// The status of a shell script that is run as a worker; what it was told of where it threw. Where
/// the script writes the file $0, it is interrupted then.
std::string outcome(const std::string& script) {
  const harness::TemporaryFolder folder;
  const std::filesystem::path ready = folder.path() / "ready";
  harness::worker::Command command;
  command.arguments = {"/bin/sh", "-c", script, ready};
  std::atomic<bool> interrupted = false;
  const std::jthread user([&](const std::stop_token& is_over) {
    while (!interrupted && !is_over.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      interrupted = std::filesystem::exists(ready);
    }
  });
  try {
    const int status = run_worker(command, "worker", "worker: ", interrupted);
    return "status " + std::to_string(status);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

/// The same of one that is interrupted, and then does this.
std::string outcome_told(const std::string& then) {
  return outcome("trap '" + then + "' USR1; : > \"$0\"; sleep 60 & wait");
}

TEST(WorkerCommand, PassesStatusAndComplaintOn) {
  EXPECT_EQ(outcome("exit 0"), "status 0");
  EXPECT_EQ(outcome("exit 1"), "status 1");
  EXPECT_EQ(outcome("echo 'worker: no room' >&2; exit 2"), "no room");
}

TEST(WorkerCommand, SaysHowItDied) {
  EXPECT_NE(outcome("kill -SEGV $$").find("signal 11"), std::string::npos);
  EXPECT_NE(outcome("kill -USR1 $$").find("signal 10"), std::string::npos);
}

TEST(WorkerCommand, EndsByBeingTold) {
  EXPECT_EQ(outcome(": > \"$0\"; exec sleep 60"), "status 0");
  EXPECT_EQ(outcome_told("exit 1"), "status 1");
  // As Open MPI's launcher and MPICH's do.
  EXPECT_EQ(outcome_told("exit 138"), "status 0");
  EXPECT_EQ(outcome_told("exit 10"), "status 0");
}

/// As a sanitizer's launcher, which waits for the worker.
TEST(WorkerCommand, IsToldBehindALauncherThatDoesNotPassItOn) {
  const std::string worker =
      "/bin/sh -c 'trap \"exit 1\" USR1; : > \"$0\"; sleep 60 & wait' \"$0\"";
  EXPECT_EQ(outcome(worker + "; exit $?"), "status 1");
  EXPECT_EQ(outcome(": > \"$0\"; sleep 60; exit 7"), "status 0") << "nobody listens yet";
}

TEST(WorkerCommand, MayStillDieOfSomethingElseOnceTold) {
  EXPECT_NE(outcome_told("kill -SEGV $$").find("signal 11"), std::string::npos);
  EXPECT_NE(outcome_told("exit 3").find("status 3"), std::string::npos);
}

/// What a shell script answers.
WorkerAnswer answer(const std::string& script, double timeout_s = 20) {
  return ask_worker(
      {.arguments = {"/bin/sh", "-c", script}, .environment = {}}, "worker", timeout_s);
}

TEST(WorkerAnswer, IsTheObjectThatItPrints) {
  EXPECT_EQ(answer(R"(echo '{"a":[1,2]}')").said, nlohmann::json({{"a", {1, 2}}}));
  EXPECT_EQ(answer("echo '{}'").verdict, harness::Verdict::passed);
}

TEST(WorkerAnswer, SaysWhyThereIsNone) {
  EXPECT_EQ(answer("echo '{\"a\":'").reason, "worker: expected an answer in JSON");
  EXPECT_EQ(answer("echo '{}'; echo no device >&2; exit 3").reason,
            "worker ended with status 3: no device");
  EXPECT_EQ(answer("exit 3").verdict, harness::Verdict::crashed);
  const WorkerAnswer late = answer("exec sleep 60", 0.1);
  EXPECT_EQ(late.verdict, harness::Verdict::hung);
  EXPECT_EQ(late.reason, "no answer within 0.1 s");
}

}  // namespace
}  // namespace rankcheck::cases
