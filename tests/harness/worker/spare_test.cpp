#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "harness/base/files.hpp"
#include "harness/case/image.hpp"
#include "harness/search/engine.hpp"
#include "harness/worker/worker_backend.hpp"

#include "tests/harness/fake.hpp"
#include "tests/harness/sample.hpp"
#include "tests/harness/worker/sum_case.hpp"

/// Restarts of workers, and spare workers that are started ahead. The workers are scripts that send
/// frames from files. They wait for one another at named pipes.
namespace rankcheck::harness::worker {
namespace {

class SpareTest : public testing::Test {
 protected:
  void SetUp() override {
    write_hello("hello", {0}, 1);
    ImageLayout layout;
    lay_out(*contract_of_sum("all_reduce"), sum_of_two(), 0, ResultPlace::own_block, layout);
    Observation result;
    result.path = {"fake"};
    result.stages = {{{Image(static_cast<std::size_t>(layout.size))}, {{1, 2}}}};
    Connection connection = to_file("result");
    ASSERT_TRUE(send_result(connection, 1, result));
    ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  }

  std::string file(const std::string& name) const { return folder_.path() / name; }

  void write_hello(const std::string& name, std::vector<int> ranks, int world) const {
    Hello hello;
    hello.world = world;
    hello.ranks = std::move(ranks);
    hello.traits.name = "fake";
    hello.algorithms = {{{"all_reduce", "fake", ""}, {}},
                        {{"all_reduce", "other", ""}, {{"K", "V"}}}};
    ASSERT_TRUE(to_file(name).send(to_json(hello)));
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
        .contract_of = contract_of_sum,
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

  static RunStatus run(Backend& backend, const std::string& algorithm = "fake") {
    Case c = sum_of_two();
    c.algorithm = algorithm;
    Observation observation;
    backend.run(std::span(&c, 1), observation);
    EXPECT_EQ(observation.reason, "");
    return observation.status;
  }

  /// The folders of all workers that were started.
  std::vector<std::string> starts_;
  /// The number of starts after which the next one fails.
  std::size_t refused_start_ = 1000;
  std::atomic<bool> stop_ = false;

 private:
  Connection to_file(const std::string& name) const {
    return {-1, ::open(file(name).c_str(), O_CREAT | O_WRONLY, 0600)};
  }

  TemporaryFolder folder_;
};

constexpr const char* answer_run =
    "head -c 1 > /dev/null; echo $number $ranks >> ran; cat result; cat > /dev/null";

TEST_F(SpareTest, WorkersThatHaveRunNothingNeedNoRestart) {
  const auto backend = open(std::string("cat hello; ") + answer_run);
  backend->restart(0);
  backend->restart(4);
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(starts_.size(), 1U);
  backend->restart(4);
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(starts_.size(), 2U);
  backend->restart(2);
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(read_file(file("ran")), "1 4\n2 4\n3 2\n");
}

TEST_F(SpareTest, WorkersThatEndedBeforeTheyRanAreRestarted) {
  const auto backend = open(
      std::string(
          "cat hello; [ $number = 1 ] && { exec 3> pipe < /dev/null > /dev/null; exit 0; }; ") +
      answer_run);
  // The worker closes its connection, and then the pipe.
  await_end_at_pipe();
  backend->restart(0);
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(read_file(file("ran")), "2 4\n");
}

/// The algorithm "other" needs workers in another environment.
TEST_F(SpareTest, WorkersThatHaveRunNothingMayEndBadlyWhereOthersAreNeeded) {
  const auto backend = open(
      std::string("cat hello; [ $number = 1 ] && { cat > /dev/null; exit 7; }; ") + answer_run);
  backend->restart(0);
  EXPECT_EQ(run(*backend, "other"), RunStatus::completed);
  EXPECT_EQ(read_file(file("ran")), "2 4\n");
}

TEST_F(SpareTest, WorkersThatDiedOfAQuestionAreReportedWhereOthersAreNeeded) {
  const auto backend = open("cat hello; head -c 1 > /dev/null; exit 7");
  backend->restart(0);
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  Case c = sum_of_two();
  c.algorithm = "other";
  Observation seen;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::crashed);
  EXPECT_EQ(seen.symptom, Symptom::from_before);
  EXPECT_EQ(starts_.size(), 1U);
}

/// Starts a second world, whose spare is the third one.
void run_and_expect_restart(Backend& backend) {
  Observation observation;
  const Case c = sum_of_two();
  backend.run(std::span(&c, 1), observation);
  backend.restart(4);
  backend.expect_restart();
  backend.run(std::span(&c, 1), observation);
  EXPECT_EQ(observation.status, RunStatus::completed) << observation.reason;
}

TEST_F(SpareTest, IsStartedTogetherWithTheWorkersBeforeIt) {
  const auto backend = open(std::string("echo $$ > pid$number; cat hello; ") + answer_run);
  run_and_expect_restart(*backend);
  EXPECT_EQ(starts_.size(), 3U);
  backend->restart(4);
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(starts_.size(), 3U);
  EXPECT_EQ(read_file(file("ran")), "1 4\n2 4\n3 4\n");
  EXPECT_FALSE(backend->close());
}

TEST_F(SpareTest, IsNotStartedIfNoRestartIsExpected) {
  const auto backend = open(std::string("cat hello; ") + answer_run);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(run(*backend), RunStatus::completed);
    backend->restart(4);
  }
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(starts_.size(), 4U);
}

TEST_F(SpareTest, IsNotStartedWithWorkersThatMustBeAlone) {
  const auto backend = open(std::string("cat hello; ") + answer_run, false);
  run_and_expect_restart(*backend);
  EXPECT_EQ(starts_.size(), 2U);
}

TEST_F(SpareTest, IsEndedOnceItIsOfNoUse) {
  const std::vector<std::function<void(std::unique_ptr<WorkerBackend>&)>> ends{
      [](auto& backend) { backend->restart(2); },
      [](auto& backend) {
        backend->restart(4);
        run(*backend, "other");
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
    auto backend = open(std::string("echo $$ > pid$number; cat hello; ") + answer_run);
    run_and_expect_restart(*backend);
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
  const auto backend = open(std::string("cat hello; ") + answer_run);
  run_and_expect_restart(*backend);
  EXPECT_EQ(starts_.size(), 2U);
  refused_start_ = 1000;
  backend->restart(4);
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(starts_.size(), 3U);
}

TEST_F(SpareTest, ThatEndedInsteadOfAHelloIsReplaced) {
  for (const std::string says : {"", "echo no hello; "}) {
    starts_.clear();
    const auto backend =
        open("[ $number = 3 ] && { " + says + "exit 7; }; cat hello; " + answer_run);
    run_and_expect_restart(*backend);
    EXPECT_EQ(starts_.size(), 3U);
    backend->restart(4);
    EXPECT_EQ(run(*backend), RunStatus::completed);
    EXPECT_EQ(starts_.size(), 4U);
    EXPECT_FALSE(backend->close());
  }
}

TEST_F(SpareTest, ThatEndedWhileItWasIdleIsReplaced) {
  // The second world answers after the third one has closed its connection, and then the pipe.
  const auto backend =
      open(std::string("cat hello; [ $number = 3 ] && { exec 3> pipe < /dev/null > /dev/null; "
                       "exit 7; }; head -c 1 > /dev/null; [ $number = 2 ] && cat pipe; cat "
                       "result; cat > /dev/null"));
  run_and_expect_restart(*backend);
  backend->restart(4);
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(starts_.size(), 4U);
  EXPECT_FALSE(backend->close());
}

/// The question starts the second and third worlds. If the second one does not start, nobody has
/// waited for the third one.
TEST_F(SpareTest, IsNotTakenIfTheWorkersBeforeItDidNotStart) {
  const auto backend = open(std::string("[ $number = 2 ] && exit 7; cat hello; ") + answer_run);
  EXPECT_EQ(run(*backend), RunStatus::completed);
  backend->restart(4);
  backend->expect_restart();
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  EXPECT_EQ(starts_.size(), 3U);
  EXPECT_FALSE(std::filesystem::exists(starts_.at(2)));
  EXPECT_EQ(run(*backend), RunStatus::completed);
  EXPECT_EQ(read_file(file("ran")), "1 4\n4 4\n");
  EXPECT_FALSE(backend->close());
}

/// A backend that notes what replays ask of it.
class NotingBackend final : public fake::FakeBackend {
 public:
  using FakeBackend::FakeBackend;
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
  NotingBackend backend(catalogue);
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
  write_hello("hello0", {0}, 2);
  write_hello("hello1", {1}, 2);
  std::ofstream(file("worker.pl")) << R"(
      use IO::Socket::UNIX;
      my @ranks;
      for my $rank (0, 1) {
        my $s = IO::Socket::UNIX->new(Peer => $ENV{RANKCHECK_SOCKET});
        open(my $f, '<', "hello$rank"); local $/; print {$s} <$f>; $s->flush;
        push @ranks, $s;
      }
      open(my $pipe, '>', 'pipe');
      print STDERR "mpirun noticed that process rank 1 with PID 0 on node a exited on signal 9\n";
      close($_) for @ranks;
      exit 1;
  )";
  const auto backend = open("exec perl worker.pl");
  await_end_at_pipe();
  Case c = sum_of_two();
  c.ranks = 2;
  Observation seen;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::crashed);
  EXPECT_EQ(seen.reason.find("rank 1 died"), 0U) << seen.reason;
}

}  // namespace
}  // namespace rankcheck::harness::worker
