#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/base/files.hpp"
#include "harness/search/engine.hpp"
#include "harness/worker/worker_backend.hpp"

#include "tests/harness/fake.hpp"
#include "tests/harness/text.hpp"
#include "tests/harness/worker/scripts.hpp"

/// Restarts of workers, and spare workers that are started ahead. The workers are scripts that send
/// frames from files. They wait for one another at named pipes.
namespace rankcheck::harness::worker {
namespace {

class SpareTest : public ScriptTest {
 protected:
  SpareTest() {
    write("hello", to_json(hello_with_other()));
    EXPECT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  }

  /// The script sees its `number`, counted from 1 in the order of the starts, and `ranks`.
  std::unique_ptr<WorkerBackend> open(const std::string& script, bool may_start_ahead = true) {
    return std::make_unique<WorkerBackend>(WorkerOptions{
        .command =
            [this, script](const std::string& directory, int ranks) {
              if (starts_.size() == refused_start_) throw std::runtime_error("no more processes");
              starts_.push_back(directory);
              return Command{{"sh",
                              "-c",
                              fmt::format("cd '{}'; number={}; ranks={}; {}",
                                          folder_.path().string(),
                                          starts_.size(),
                                          ranks,
                                          script)},
                             {}};
            },
        .ranks = 4,
        .contract_of = reference::find_contract,
        .may_use_standard_io = true,
        .may_start_ahead = may_start_ahead,
        .stop = {.flag = &stop_},
    });
  }

  /// Waits until the worker that opened the pipe has ended.
  void await_end_at_pipe() const {
    std::string nothing;
    std::ifstream(file("pipe")) >> nothing;
  }

  /// Expects that a run completes. Returns how many worlds have been started by then.
  std::size_t starts_after_run(Backend& backend) {
    EXPECT_EQ(outcome_of(run_once(backend)), "completed");
    return starts_.size();
  }
  std::size_t starts_after_restart(Backend& backend, int ranks = 4) {
    backend.restart(ranks);
    return starts_after_run(backend);
  }
  /// Starts a second world, whose spare is the third one.
  std::size_t starts_with_spare(Backend& backend) {
    run_once(backend);
    backend.restart(4);
    backend.expect_restart();
    return starts_after_run(backend);
  }

  /// The folders of all workers that were started.
  std::vector<std::string> starts_;
  /// The number of starts after which the next one fails.
  std::size_t refused_start_ = 1000;
  std::atomic<bool> stop_ = false;
};

constexpr const char* answer_run =
    "cat hello; head -c 1 > /dev/null; echo $number $ranks >> ran; cat result; cat > /dev/null";

TEST_F(SpareTest, WorkersThatHaveRunNothingNeedNoRestart) {
  const auto backend = open(answer_run);
  backend->restart(0);
  EXPECT_EQ(starts_after_restart(*backend), 1U);
  EXPECT_EQ(starts_after_restart(*backend), 2U);
  EXPECT_EQ(starts_after_restart(*backend, 2), 3U);
  EXPECT_EQ(read_file(file("ran")), "1 4\n2 4\n3 2\n");
}

TEST_F(SpareTest, WorkersThatEndedBeforeTheyRanAreRestarted) {
  const auto backend = open(
      std::string(
          "[ $number = 1 ] && { cat hello; exec 3> pipe < /dev/null > /dev/null; exit 0; }; ") +
      answer_run);
  // The worker closes its connection, and then the pipe.
  await_end_at_pipe();
  backend->restart(0);
  EXPECT_EQ(outcome_of(run_once(*backend)), "completed");
  EXPECT_EQ(read_file(file("ran")), "2 4\n");
}

/// The algorithm "other" needs workers in another environment.
TEST_F(SpareTest, WorkersThatHaveRunNothingMayEndBadlyWhereOthersAreNeeded) {
  const auto backend = open(
      std::string("[ $number = 1 ] && { cat hello; cat > /dev/null; exit 7; }; ") + answer_run);
  backend->restart(0);
  EXPECT_EQ(outcome_of(run_once(*backend, sum_of_two("other"))), "completed");
  EXPECT_EQ(read_file(file("ran")), "2 4\n");
}

TEST_F(SpareTest, WorkersThatDiedOfAQuestionAreReportedWhereOthersAreNeeded) {
  const auto backend = open("cat hello; head -c 1 > /dev/null; exit 7");
  backend->restart(0);
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  const Observation seen = run_once(*backend, sum_of_two("other"));
  EXPECT_EQ(seen.status, RunStatus::crashed);
  EXPECT_EQ(seen.symptom, Symptom::from_before);
  EXPECT_EQ(starts_.size(), 1U);
}

TEST_F(SpareTest, IsStartedTogetherWithTheWorkersBeforeIt) {
  const auto backend = open(std::string("echo $$ > pid$number; ") + answer_run);
  EXPECT_EQ(starts_with_spare(*backend), 3U);
  EXPECT_EQ(starts_after_restart(*backend), 3U);
  EXPECT_EQ(read_file(file("ran")), "1 4\n2 4\n3 4\n");
  EXPECT_FALSE(backend->close());
}

TEST_F(SpareTest, IsNotStartedIfNoRestartIsExpected) {
  const auto backend = open(answer_run);
  EXPECT_EQ(starts_after_run(*backend), 1U);
  for (const std::size_t worlds : {2, 3, 4}) EXPECT_EQ(starts_after_restart(*backend), worlds);
}

TEST_F(SpareTest, IsNotStartedWithWorkersThatMustBeAlone) {
  const auto backend = open(answer_run, false);
  EXPECT_EQ(starts_with_spare(*backend), 2U);
}

TEST_F(SpareTest, IsEndedOnceItIsOfNoUse) {
  const std::vector<std::function<void(std::unique_ptr<WorkerBackend>&)>> ends{
      [](auto& backend) { backend->restart(2); },
      [](auto& backend) {
        backend->restart(4);
        EXPECT_EQ(outcome_of(run_once(*backend, sum_of_two("other"))), "completed");
      },
      [](auto& backend) { EXPECT_FALSE(backend->close()); },
      [](auto& backend) { backend.reset(); },
      [this](auto& backend) {
        stop_ = true;
        EXPECT_FALSE(backend->close());
      }};
  for (const auto& end : ends) {
    stop_ = false;
    starts_.clear();
    auto backend = open(std::string("echo $$ > pid$number; ") + answer_run);
    EXPECT_EQ(starts_with_spare(*backend), 3U);
    pid_t spare = 0;
    std::ifstream(file("pid3")) >> spare;
    ASSERT_GT(spare, 0);
    EXPECT_EQ(::kill(spare, 0), 0);
    EXPECT_TRUE(std::filesystem::exists(starts_.at(2)));
    end(backend);
    EXPECT_NE(::kill(spare, 0), 0);
    EXPECT_FALSE(std::filesystem::exists(starts_.at(2)));
  }
}

/// Whatever happens to a spare worker, the next run has its result from other workers.
TEST_F(SpareTest, ThatDoesNotStartIsReplaced) {
  refused_start_ = 2;
  const auto backend = open(answer_run);
  EXPECT_EQ(starts_with_spare(*backend), 2U);
  refused_start_ = 1000;
  EXPECT_EQ(starts_after_restart(*backend), 3U);
}

TEST_F(SpareTest, ThatEndedInsteadOfAHelloIsReplaced) {
  for (const std::string says : {"", "echo no hello; "}) {
    starts_.clear();
    const auto backend = open("[ $number = 3 ] && { " + says + "exit 7; }; " + answer_run);
    EXPECT_EQ(starts_with_spare(*backend), 3U);
    EXPECT_EQ(starts_after_restart(*backend), 4U);
    EXPECT_FALSE(backend->close());
  }
}

TEST_F(SpareTest, ThatEndedWhileItWasIdleIsReplaced) {
  // The second world answers after the third one has closed its connection, and then the pipe.
  const auto backend =
      open(std::string("cat hello; [ $number = 3 ] && { exec 3> pipe < /dev/null > /dev/null; "
                       "exit 7; }; head -c 1 > /dev/null; [ $number = 2 ] && cat pipe; cat "
                       "result; cat > /dev/null"));
  EXPECT_EQ(starts_with_spare(*backend), 3U);
  EXPECT_EQ(starts_after_restart(*backend), 4U);
  EXPECT_FALSE(backend->close());
}

/// The question starts the second and third worlds. If the second one does not start, nobody has
/// waited for the third one.
TEST_F(SpareTest, IsNotTakenIfTheWorkersBeforeItDidNotStart) {
  const auto backend = open(std::string("[ $number = 2 ] && exit 7; ") + answer_run);
  EXPECT_EQ(outcome_of(run_once(*backend)), "completed");
  backend->restart(4);
  backend->expect_restart();
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  EXPECT_EQ(starts_.size(), 3U);
  EXPECT_FALSE(std::filesystem::exists(starts_.at(2)));
  EXPECT_EQ(outcome_of(run_once(*backend)), "completed");
  EXPECT_EQ(read_file(file("ran")), "1 4\n4 4\n");
  EXPECT_FALSE(backend->close());
}

/// A backend that notes what replays ask of it.
class NotingBackend final : public fake::FakeBackend {
 public:
  void restart(int ranks) override { told += fmt::format("restart({}) ", ranks); }
  void expect_restart() override { told += "expect "; }
  void run(std::span<const Case> stages, Observation& observation) override {
    told += "run ";
    FakeBackend::run(stages, observation);
  }

  std::string told;
};

TEST(ReplaysTest, ExpectARestartBeforeEachReplayButTheLast) {
  const Catalogue catalogue = fake::catalogue();
  NotingBackend backend;
  Examiner examiner(catalogue, backend);
  const Case c = case_from_text(
      R"({"operation":"all_reduce","property":"completes","backend":"fake","ranks":3,"count":4,)"
      R"("type":"f32","op":"sum"})");
  static_cast<void>(replay(examiner, c, {.replays = 3}));
  EXPECT_EQ(backend.told, "restart(3) expect run restart(3) expect run restart(3) run ");
}

/// Two ranks that end one soon after the other, before their first run, as if a launcher had ended
/// rank 0 because rank 1 had ended.
TEST_F(SpareTest, TheRankThatDiedIsTheOneThatTheLauncherNames) {
  write("hello0", to_json(hello_of({0}, 2)));
  write("hello1", to_json(hello_of({1}, 2)));
  write_perl(R"(
      my @ranks = map { connect_to_harness() } 0, 1;
      give($ranks[$_], "hello$_") for 0, 1;
      open(my $pipe, '>', 'pipe');
      print STDERR "mpirun noticed that process rank 1 with PID 0 on node a exited on signal 9\n";
      close($_) for @ranks;
      exit 1;
  )");
  const auto backend = open("exec perl worker.pl");
  await_end_at_pipe();
  Case c = sum_of_two();
  c.ranks = 2;
  EXPECT_TRUE(begins(outcome_of(run_once(*backend, c)), "crashed: rank 1 died"));
}

}  // namespace
}  // namespace rankcheck::harness::worker
