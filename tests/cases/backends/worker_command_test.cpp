#include "cases/backends/worker_command.hpp"

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "tests/harness/sample.hpp"

namespace rankcheck::cases {
namespace {

/// Runs a shell script as a worker. Returns "status N", or the exception's text if run_worker()
/// threw. The run is interrupted as soon as the script writes to the queue $0.
std::string outcome(const std::string& script) {
  const harness::TemporaryFolder folder;
  const std::filesystem::path ready = folder.path() / "ready";
  if (::mkfifo(ready.c_str(), 0600) != 0) return "no queue";
  const harness::worker::Descriptor queue(::open(ready.c_str(), O_RDWR | O_CLOEXEC));
  harness::worker::Command command;
  command.arguments = {"/bin/sh", "-c", script, ready};
  std::atomic<bool> interrupted = false;
  std::jthread user([&] {
    char told = 0;
    interrupted = ::read(queue.get(), &told, 1) == 1;
  });
  std::string said;
  try {
    said = "status " + std::to_string(run_worker(command, "worker", "worker: ", interrupted));
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  // The script may have written nothing.
  static_cast<void>(!::write(queue.get(), "", 1));
  user.join();
  return said;
}

/// Returns the outcome of a script that is interrupted and then executes `then`.
std::string outcome_told(const std::string& then) {
  return outcome("trap '" + then + "' USR1; echo > \"$0\"; tail -f /dev/null & wait");
}

TEST(WorkerCommandTest, PassesStatusAndComplaintOn) {
  EXPECT_EQ(outcome("exit 0"), "status 0");
  EXPECT_EQ(outcome("exit 1"), "status 1");
  EXPECT_EQ(outcome("echo 'worker: no room' >&2; exit 2"), "no room");
}

TEST(WorkerCommandTest, SaysHowItDied) {
  EXPECT_NE(outcome("kill -SEGV $$").find("signal 11"), std::string::npos);
  EXPECT_NE(outcome("kill -USR1 $$").find("signal 10"), std::string::npos);
}

TEST(WorkerCommandTest, EndsByBeingTold) {
  EXPECT_EQ(outcome("echo > \"$0\"; exec tail -f /dev/null"), "status 0");
  EXPECT_EQ(outcome_told("exit 1"), "status 1");
  // If a worker dies of signal 10, SIGUSR1, launchers of Open MPI and MPICH exit with 138 or 10.
  EXPECT_EQ(outcome_told("exit 138"), "status 0");
  EXPECT_EQ(outcome_told("exit 10"), "status 0");
}

/// The shell here is a launcher that waits for the worker, as a sanitizer's launcher does.
TEST(WorkerCommandTest, IsToldBehindALauncherThatDoesNotPassItOn) {
  const std::string worker =
      R"(/bin/sh -c 'trap "exit 1" USR1; echo > "$0"; tail -f /dev/null & wait' "$0")";
  EXPECT_EQ(outcome(worker + "; exit $?"), "status 1");
  EXPECT_EQ(outcome("echo > \"$0\"; tail -f /dev/null; exit 7"), "status 0")
      << "nobody listens yet";
}

/// Denies the system call pidfd_open to this thread and the threads that it starts, as some
/// containers do. Returns false if the system does not allow such a filter.
bool lose_pidfd_open() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{.len = 4, .filter = filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(WorkerCommandTest, IsToldWhereProcessesCannotBeOpened) {
  bool is_lost = false;
  std::string told;
  std::thread([&] {
    is_lost = lose_pidfd_open();
    if (is_lost) told = outcome_told("exit 1");
  }).join();
  if (!is_lost) GTEST_SKIP() << "this system lets nobody give up system calls";
  EXPECT_EQ(told, "status 1");
}

TEST(WorkerCommandTest, MayStillDieOfSomethingElseOnceTold) {
  EXPECT_NE(outcome_told("kill -SEGV $$").find("signal 11"), std::string::npos);
  EXPECT_NE(outcome_told("exit 3").find("status 3"), std::string::npos);
}

/// Returns the answer of a worker that is a shell script; `timeout_s` in seconds.
WorkerAnswer answer(const std::string& script, double timeout_s = 3600) {
  return ask_worker(
      {.arguments = {"/bin/sh", "-c", script}, .environment = {}}, "worker", timeout_s);
}

TEST(WorkerAnswerTest, IsTheObjectThatItPrints) {
  EXPECT_EQ(answer(R"(echo '{"a":[1,2]}')").said, nlohmann::json({{"a", {1, 2}}}));
  EXPECT_EQ(answer("echo '{}'").verdict, harness::Verdict::passed);
  EXPECT_EQ(answer("echo ==; printf '{\"a\":1}\n\n'; printf '== 0 errors'").said,
            nlohmann::json({{"a", 1}}));
}

TEST(WorkerAnswerTest, SaysWhyThereIsNone) {
  EXPECT_EQ(answer("echo '{\"a\":'").reason, "worker: expected an answer in JSON");
  EXPECT_EQ(answer("echo '{}'; echo no device >&2; exit 3").reason,
            "worker ended with status 3: no device");
  EXPECT_EQ(answer("exit 3").verdict, harness::Verdict::crashed);
  const WorkerAnswer late = answer("exec tail -f /dev/null", 0.1);
  EXPECT_EQ(late.verdict, harness::Verdict::hung);
  EXPECT_EQ(late.reason, "no answer within 0.1 s");
}

}  // namespace
}  // namespace rankcheck::cases
