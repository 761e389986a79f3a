#include "harness/worker/worker_backend.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "harness/backend/preference.hpp"
#include "harness/base/files.hpp"
#include "harness/case/family.hpp"
#include "harness/case/image.hpp"

#include "cases/families/collectives/case.hpp"
#include "tests/harness/text.hpp"
#include "tests/harness/worker/scripts.hpp"

/// Workers that misbehave. They are shell scripts that send frames which the test has written to
/// files.
namespace rankcheck::harness::worker {
namespace {

using cases::collective;
using Clock = std::chrono::steady_clock;

/// A time-out that is longer than a test may take, for workers that must answer. Workers that never
/// answer have a short one.
constexpr std::chrono::hours long_enough{1};

// The script continues when the run has arrived.
constexpr const char* await_run = "head -c 1 > /dev/null; ";
// The script does nothing more, and ends only by a signal.
constexpr const char* hang = "exec tail -f /dev/null";
constexpr const char* hang_on = "trap '' TERM; exec tail -f /dev/null";
// The script tells expect_interrupted() that the backend waits for it, and does nothing more.
constexpr const char* waits = "echo > arrived; trap '' TERM; exec tail -f /dev/null";
constexpr const char* endless_message = R"(printf '\0\0\0\1'; while :; do printf x; done)";
// The script answers the first run, and ends when its input does.
constexpr const char* answer = "cat result; cat > /dev/null";

class WorkersTest : public ScriptTest {
 protected:
  /// Writes the hellos of two processes of one rank each.
  void write_two_hellos(bool takes_inputs) const {
    for (const int rank : {0, 1}) {
      Hello hello = hello_of({rank}, 2);
      hello.takes_inputs = takes_inputs;
      write("hello" + std::to_string(rank), to_json(hello));
    }
  }
  /// Opens a backend whose worker says hello and then executes the script.
  std::unique_ptr<WorkerBackend> open(const std::string& script, bool greets = true) const {
    const std::string text = "cd " + folder_.path().string() + "; echo $$ > pid; " +
                             (greets ? "cat hello; " : "") + script;
    return std::make_unique<WorkerBackend>(WorkerOptions{
        .command =
            [text](const std::string&, int ranks) {
              return Command{{"sh", "-c", fmt::format("ranks={}; {}", ranks, text)}, {}};
            },
        .ranks = 4,
        .contract_of = reference::find_contract,
        .is_own = is_own_,
        .may_use_standard_io = true,
        .start_timeout = start_timeout_,
        .run_timeout = run_timeout_,
        .end_timeout = end_timeout_,
        .now = [this] { return now(); },
        .stop = {.flag = &stop_},
    });
  }
  /// Opens a backend whose worker executes the script when the first run or question has arrived.
  std::unique_ptr<WorkerBackend> open_and_await(const std::string& script) const {
    return open(await_run + script);
  }
  Observation run(const std::string& script) const { return run_once(*open_and_await(script)); }

  /// Opens a backend whose worker is a program in Perl that says hello itself.
  std::unique_ptr<WorkerBackend> open_perl(const std::string& program) const {
    write_perl(program);
    return open("exec perl worker.pl", false);
  }

  /// Makes the workers' time stand still until a worker has made this file, so that what the worker
  /// sent before has arrived. Then each look at the clock takes 0.1 s. The first look that finds
  /// the file takes no time, because it may come after the last look at the connection.
  void stop_time_until(const std::string& name) {
    passes_time_ = [path = file(name), was_there = false]() mutable {
      return std::exchange(was_there, std::filesystem::exists(path));
    };
  }

  std::string error_of_start(const std::string& script, bool greets = false) const {
    return complaint_of<std::runtime_error>([&] { return open(script, greets); });
  }

  bool worker_is_gone() const {
    const pid_t pid = worker();
    return pid > 0 && ::kill(pid, 0) != 0;
  }
  /// Waits for the end of the worker, and leaves it to the backend.
  void await_end_of_worker() const {
    siginfo_t info{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(worker()), &info, WEXITED | WNOWAIT), 0);
  }

  /// Sets the stop flag when the script has executed `waits`. Expects that `function` throws
  /// Interrupted, and not that the time is over.
  template <class Function>
  void expect_interrupted(const Function& function) {
    stop_ = false;
    const Descriptor arrived = queue("arrived");
    std::jthread other([&] {
      char said = 0;
      stop_ = ::read(arrived.get(), &said, 1) == 1;
    });
    EXPECT_THROW(function(), Interrupted);
    // The script may have said nothing.
    static_cast<void>(!::write(arrived.get(), "", 1));
  }

  /// Makes a queue in a file, and opens both of its ends.
  [[nodiscard]] Descriptor queue(const std::string& name) const {
    const bool is_there = ::mkfifo(file(name).c_str(), 0600) == 0 || errno == EEXIST;
    EXPECT_TRUE(is_there) << name;
    return Descriptor(::open(file(name).c_str(), O_RDWR | O_CLOEXEC));
  }

  std::atomic<bool> stop_ = false;
  bool is_own_ = false;
  std::chrono::duration<double> start_timeout_ = long_enough;
  std::chrono::duration<double> run_timeout_ = long_enough;
  std::chrono::duration<double> end_timeout_ = long_enough;
  /// If given, is asked at each look at the clock whether 0.1 s have passed since the last look.
  std::function<bool()> passes_time_ = nullptr;

 private:
  Clock::time_point now() const {
    if (!passes_time_) return Clock::now();
    if (passes_time_()) time_ += std::chrono::milliseconds(100);
    return time_;
  }
  pid_t worker() const {
    pid_t pid = 0;
    std::ifstream(file("pid")) >> pid;
    return pid;
  }

  mutable Clock::time_point time_ = Clock::now();
};

/// A replay starts as many ranks as its case has. The next run or question has all.
TEST_F(WorkersTest, RestartWithTheRanksOfACase) {
  for (const bool is_asked : {false, true}) {
    std::filesystem::remove(file("started"));
    const auto backend = open("echo $ranks >> started");
    backend->restart(2);
    run_once(*backend);
    backend->restart(0);
    if (is_asked) {
      static_cast<void>(backend->why_refused(sum_of_two()));
    } else {
      run_once(*backend);
    }
    EXPECT_EQ(read_file(file("started")), "4\n2\n4\n") << is_asked;
  }
}

TEST_F(WorkersTest, DeliverImagesStampsAndPath) {
  const Observation seen = run(answer);
  EXPECT_EQ(outcome_of(seen), "completed");
  ASSERT_EQ(seen.stages.size(), 1U);
  EXPECT_EQ(seen.stages[0].images.at(0), image_);
  EXPECT_EQ(seen.stages[0].stamps.at(0).left, 2);
  EXPECT_EQ(seen.path, std::vector<std::string>{"fake"});
}

TEST_F(WorkersTest, CrashWithTheirEndAndLastWords) {
  EXPECT_TRUE(has(outcome_of(run("echo 'bad pointer' >&2; kill -SEGV $$")),
                  "crashed: ",
                  "signal 11",
                  "bad pointer"));
  EXPECT_TRUE(has(outcome_of(run("exit 3")), "crashed: ", "status 3"));
}

TEST_F(WorkersTest, CrashInACallOfNoElements) {
  const auto outcome = [&](const std::string& script) {
    return outcome_of(run_once(*open_and_await(script), sum_of(0)));
  };
  EXPECT_TRUE(
      begins(outcome("exit 3"), "crashed: rank 0 died in stage 0 (all_reduce of 0 elements); "));
  EXPECT_TRUE(begins(outcome("cat progress; exit 3"),
                     "crashed: rank 0 died; rank 0 entered stage 0 (all_reduce of 0 elements); "));
}

TEST_F(WorkersTest, HangInTheStageThatTheyEntered) {
  run_timeout_ = std::chrono::milliseconds(300);
  stop_time_until("entered");
  const Observation seen = run(std::string("cat progress; : > entered; ") + hang_on);
  EXPECT_TRUE(has(outcome_of(seen), "hung: ", "rank 0 entered stage 0 (all_reduce)"));
  EXPECT_TRUE(worker_is_gone());
}

TEST_F(WorkersTest, HangWhereTheySayOfTheirProgressForEver) {
  const Descriptor go = queue("go");
  const Descriptor sent = queue("sent");
  run_timeout_ = std::chrono::milliseconds(300);
  const auto backend =
      open("exec 3< go 4> sent; while read -r x <&3; do cat progress; echo >&4; done");
  // The worker speaks once in each 0.1 s.
  passes_time_ = [&] {
    char said = 0;
    return ::write(go.get(), "\n", 1) == 1 && ::read(sent.get(), &said, 1) == 1;
  };
  EXPECT_EQ(outcome_of(run_once(*backend)),
            "hung: no result within 3 s: rank 0 entered stage 0 (all_reduce)");
}

TEST_F(WorkersTest, HangWhereTheyNeverFinishAMessage) {
  run_timeout_ = std::chrono::milliseconds(300);
  EXPECT_EQ(outcome_of(run(endless_message)),
            "hung: no answer within 0.3 s: rank 0 entered no stage");
}

/// Large images take time on their way. Whoever is in a hurry waits for a tenth of the time-out,
/// but half a second at least.
TEST_F(WorkersTest, HangAfterATimeThatGrowsWithTheImages) {
  run_timeout_ = std::chrono::seconds(1);
  const auto backend = open("cat > /dev/null");
  const auto outcome = [&](std::int64_t count) {
    return outcome_of(run_once(*backend, sum_of(count)));
  };
  backend->hurry(true);
  EXPECT_EQ(outcome(2), "hung: no answer within 0.5 s: rank 0 entered no stage");
  EXPECT_EQ(outcome(1 << 21), "hung: no answer within 1.5 s: rank 0 entered no stage");
  backend->hurry(false);
  EXPECT_EQ(outcome(2), "hung: no answer within 1 s: rank 0 entered no stage");
}

TEST_F(WorkersTest, HangWhereTheyDoNotReadTheirInputs) {
  Hello hello = hello_of();
  hello.takes_inputs = true;
  write("hello", to_json(hello));
  run_timeout_ = std::chrono::milliseconds(300);
  EXPECT_EQ(outcome_of(run_once(*open(hang), sum_of(1 << 18))),
            "hung: rank 0: reads nothing within 0.3 s");
}

/// Output that arrives faster than it is read must not prevent the check of the time.
TEST_F(WorkersTest, HangThoughTheyComplainWithoutEnd) {
  run_timeout_ = std::chrono::milliseconds(300);
  EXPECT_EQ(run("yes >&2").status, RunStatus::hung);
}

TEST_F(WorkersTest, HangInTheNextRunWhereAnAnswerIsNeverBegunOrFinished) {
  run_timeout_ = std::chrono::milliseconds(300);
  for (const char* script : {hang, endless_message}) {
    const auto backend = open(script);
    EXPECT_EQ(backend->why_refused(sum_of_two()), "");
    EXPECT_EQ(run_once(*backend).status, RunStatus::hung) << script;
  }
}

TEST_F(WorkersTest, AreNotJudgedOnceAStopIsMade) {
  const auto backend = open_and_await(waits);
  expect_interrupted([&] { run_once(*backend); });
  EXPECT_FALSE(backend->close());
  EXPECT_TRUE(worker_is_gone());
}

TEST_F(WorkersTest, WhoseDeathComesWithTheStopAreNotJudged) {
  const auto backend = open_and_await("kill -TERM $$");
  stop_ = true;
  EXPECT_THROW(run_once(*backend), Interrupted);
}

TEST_F(WorkersTest, AreNotWaitedForOnceAStopIsMade) {
  const auto backend = open_and_await(waits);
  expect_interrupted([&] { static_cast<void>(backend->why_refused(sum_of_two())); });
  expect_interrupted([&] { static_cast<void>(open(waits, false)); });
  EXPECT_TRUE(worker_is_gone());
  // A worker that does not end is not waited for either.
  stop_ = false;
  const auto idle = open(std::string("cat > /dev/null; ") + hang_on);
  stop_ = true;
  EXPECT_FALSE(idle->close());
}

TEST_F(WorkersTest, AreInErrorWhereTheirProgressCannotBe) {
  const auto error_of = [&](const nlohmann::ordered_json& header) {
    write("progress", header);
    const Observation seen = run("cat progress; cat > /dev/null");
    EXPECT_EQ(seen.status, RunStatus::errored) << seen.reason;
    return seen.reason.substr(seen.reason.find("protocol: ") + 10);
  };
  EXPECT_EQ(error_of({{"progress", 7}, {"rank", 0}, {"stage", 0}}),
            "progress of run 7: expected that of run 1");
  EXPECT_EQ(error_of({{"progress", 1}, {"rank", 1}, {"stage", 0}}),
            "progress of rank 1: expected one that it hosts (0)");
  EXPECT_EQ(error_of({{"progress", 1}, {"rank", 0}, {"stage", 1}}),
            "progress in stage 1: expected at most 0");
  EXPECT_EQ(error_of({{"progress", 1}, {"rank", 0.5}, {"stage", 0}}),
            "rank: got 0.5, expected a whole number in -2147483648..2147483647");
}

TEST_F(WorkersTest, AreInErrorWhenTheyTalkNonsense) {
  EXPECT_TRUE(
      has(outcome_of(run("echo this is no frame; cat > /dev/null")),
          "errored: ",
          "breaks the worker protocol: got the text \"this is no frame\", expected a message: a "
          "worker whose messages are its standard output must print nothing else there"));
  EXPECT_TRUE(worker_is_gone());
}

/// The library wrote to the worker's memory.
TEST_F(WorkersTest, OfRankcheckItselfHaveCrashedWhenTheyTalkNonsense) {
  is_own_ = true;
  EXPECT_TRUE(has(outcome_of(run("echo this is no frame; cat > /dev/null")),
                  "crashed: ",
                  "breaks the worker protocol"));
}

TEST_F(WorkersTest, AreInErrorWhenAResultIsOfAnotherRunOrAnImageHasTheWrongSize) {
  write("result", {{"result", 77}, {"status", "completed"}});
  EXPECT_EQ(run(answer).status, RunStatus::errored);
  write_result("result", Image(3));
  EXPECT_TRUE(
      has(outcome_of(run(answer)), "errored: ", ", got 3: the send buffer at 64 is missing"));
}

TEST_F(WorkersTest, AreStartedAfreshAfterACrash) {
  const auto backend =
      open_and_await(std::string("if mkdir once; then kill -KILL $$; fi; ") + answer);
  EXPECT_EQ(run_once(*backend).status, RunStatus::crashed);
  EXPECT_EQ(outcome_of(run_once(*backend)), "completed");
}

/// The signal of a parent's death is sent when the thread that started the worker ends. Runs come
/// from many threads.
TEST_F(WorkersTest, OutliveTheThreadThatStartedThem) {
  std::unique_ptr<WorkerBackend> backend;
  std::thread([&] { backend = open_and_await(answer); }).join();
  EXPECT_EQ(outcome_of(run_once(*backend)), "completed");
}

TEST_F(WorkersTest, CrashInTheNextRunWhenTheyDieBetweenRuns) {
  const auto backend =
      open_and_await("cat result; if mkdir once; then exit 5; fi; cat > /dev/null");
  ASSERT_EQ(outcome_of(run_once(*backend)), "completed");
  // Neither question may start new workers, because this would hide the crash.
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  Observation seen = run_once(*backend);
  EXPECT_TRUE(has(outcome_of(seen), "crashed: ", "rank 0 died; the worker ended with status 5"));
  EXPECT_EQ(seen.symptom, Symptom::from_before);
  const Case c = sum_of_two();
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(outcome_of(seen), "completed");
  EXPECT_EQ(seen.symptom, Symptom::none);
}

TEST_F(WorkersTest, CrashInTheNextRunThoughThatWantsAnotherEnvironment) {
  write("hello", to_json(hello_with_other()));
  const auto backend = open_and_await("cat result; exit 5");
  ASSERT_EQ(outcome_of(run_once(*backend)), "completed");
  await_end_of_worker();
  EXPECT_EQ(run_once(*backend, sum_of_two("other")).status, RunStatus::crashed);
}

TEST_F(WorkersTest, SayThatAnotherAlgorithmRan) {
  const auto run_with = [&](const char* symptom) {
    write_failure("result", {{"status", "failed"}, {"reason", "not seen"}, {"symptom", symptom}});
    return run(answer);
  };
  const Observation seen = run_with("path");
  EXPECT_EQ(seen.status, RunStatus::failed);
  EXPECT_EQ(seen.symptom, Symptom::path);
  EXPECT_TRUE(
      has(outcome_of(run_with("value")), "errored: ", R"(symptom: got "value", expected "path")"));
}

TEST_F(WorkersTest, AreStartedAfreshWhenTheyGiveUpACall) {
  write_failure("hung", {{"status", "hung"}, {"reason", "not done in time"}});
  const auto backend =
      open_and_await(std::string("if mkdir once; then cat hung; cat > /dev/null; fi; ") + answer);
  EXPECT_EQ(outcome_of(run_once(*backend)), "hung: rank 0: not done in time");
  EXPECT_EQ(outcome_of(run_once(*backend)), "completed");
}

TEST_F(WorkersTest, AreMissingIfTheirProgramIsOrEndsWithoutAWord) {
  const auto complaint = [](const std::string& program) {
    return complaint_of<std::runtime_error>([&] {
      return WorkerBackend({.command =
                                [&](const std::string&, int) {
                                  return Command{{program}, {}};
                                },
                            .contract_of = reference::find_contract,
                            .may_use_standard_io = true,
                            .start_timeout = long_enough})
          .traits();
    });
  };
  EXPECT_TRUE(has(complaint("/bin/true"), "/bin/true ended with status 0"));
  EXPECT_NE(complaint("/nowhere/worker"), "");
}

TEST_F(WorkersTest, SayWhyTheyDoNotStart) {
  EXPECT_TRUE(has(error_of_start("echo no such device >&2; exit 4"), "no such device"));
  start_timeout_ = std::chrono::milliseconds(500);
  stop_time_until("begun");
  const std::string silent = std::string(": > begun; ") + hang;
  const std::string expected =
      "still starting after 0.5 s, no rank has said hello: raise --start-timeout; expected a frame";
  EXPECT_TRUE(has(error_of_start(silent), expected));
  EXPECT_TRUE(worker_is_gone());
  stop_time_until("said");
  const std::string of_text =
      error_of_start(std::string("echo hi there, nice to meet you; : > said; ") + hang);
  EXPECT_TRUE(has(of_text, expected));
  EXPECT_TRUE(has(of_text, "or as the first output: hi there, nice to meet you"));
}

/// As Python does, which writes what it has buffered after its error.
TEST_F(WorkersTest, SayTheirErrorWhateverTheyPrintAround) {
  EXPECT_TRUE(
      error_of_start("echo version 1; echo no such module >&2; echo tuned; exit 1")
          .ends_with("ended with status 1 before every rank had said hello: no such module"));
}

TEST_F(WorkersTest, AreToldThatTheirHelloCameBehindOtherText) {
  for (const char* text : {"hi there", "hi"}) {
    const std::string why =
        error_of_start("echo " + std::string(text) + "; cat hello; cat > /dev/null");
    EXPECT_TRUE(begins(why, "got text before the hello on the standard output"));
  }
}

/// A process that prints before it connects, and while it runs. Its ranks are on the socket.
TEST_F(WorkersTest, PrintWhatTheyLikeIfTheyUseTheSocket) {
  testing::internal::CaptureStderr();
  const auto backend = open_perl(R"(
      $| = 1;
      print "the library says hello\n";
      my $s = connect_to_harness();
      give($s, 'hello');
      sysread($s, my $run, 1);
      print 'x' x 1000000, "\n";
      give($s, 'result');
      while (sysread($s, $run, 4096)) {}
  )");
  const Observation seen = run_once(*backend);
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(outcome_of(seen), "completed");
  EXPECT_TRUE(begins(printed, "the library says hello"));
  EXPECT_GE(printed.size(), 1000000U);
  EXPECT_FALSE(backend->close());
}

/// A worker that knows nothing about inputs: it copies what it gets from send to recv. Alone, a
/// rank of all_reduce has to do no more.
TEST_F(WorkersTest, GetTheirInputsIfTheyAskForThem) {
  Hello hello = hello_of();
  hello.takes_inputs = true;
  write("hello", to_json(hello));
  write_perl(R"(
      binmode STDIN;
      binmode STDOUT;
      answer(*STDIN, *STDOUT, sub {
        my ($send, $bytes) = $_[0] =~ /"send":\{"offset":(\d+),"bytes":(\d+)/;
        my ($recv) = $_[0] =~ /"recv":\{"offset":(\d+)/;
        substr($_[1], $recv, $bytes) = substr($_[1], $send, $bytes); });
  )");
  const auto backend = open("exec perl worker.pl");
  Observation seen;
  std::vector<Case> stages(2, sum_of_two());
  stages[1].input = InputKind::previous;
  backend->run(stages, seen);
  ASSERT_EQ(seen.status, RunStatus::completed) << seen.reason;
  ImageLayout layout;
  lay_out(reference::contract_named("all_reduce"), stages[0], 0, ResultPlace::own_block, layout);
  Image before;
  prepare(*find_family("all_reduce"), stages[0], 0, layout, nullptr, before);
  const auto buffer = [](const Image& image, std::int64_t begin, std::int64_t size) {
    return Image(image.begin() + begin, image.begin() + begin + size);
  };
  const Image inputs = buffer(before, layout.send, layout.send_size);
  for (const StageOutcome& stage : seen.stages) {
    EXPECT_EQ(buffer(stage.images.at(0), layout.send, layout.send_size), inputs);
    EXPECT_EQ(buffer(stage.images.at(0), layout.recv, layout.recv_size), inputs);
  }
}

/// An all_reduce of rank 0, and at the same time one of rank 1.
std::vector<Case> stages_at_once() {
  std::vector<Case> stages(2, sum_of_two());
  for (Case& each : stages) each.ranks = 2;
  stages[0].group = {0};
  stages[1].group = {1};
  return stages;
}

/// Two processes that answer only after both have got a run: each is a group of its own.
TEST_F(WorkersTest, GroupsCallAtTheSameTimeIfTheyAreProcesses) {
  write_two_hellos(true);
  const auto backend = open_perl(R"(
      use Socket;
      socketpair(my $one, my $other, AF_UNIX, SOCK_STREAM, PF_UNSPEC);
      my @ends = ($one, $other);
      my $rank = fork() ? 0 : 1;
      my $s = connect_to_harness();
      give($s, "hello$rank");
      answer($s, $s, sub {
        syswrite($ends[$rank], 'x');
        sysread($ends[$rank], my $both_are_here, 1); });
  )");
  Observation seen;
  for (int run = 0; run < 2; ++run) {
    backend->run(stages_at_once(), seen);
    ASSERT_EQ(seen.status, RunStatus::completed) << seen.reason;
    for (const StageOutcome& stage : seen.stages) EXPECT_EQ(stage.images.size(), 1U);
    EXPECT_EQ(seen.path, (std::vector<std::string>{"fake", "fake"}));
  }
}

/// Rank 1 makes its first call only when rank 0 is in its second one.
TEST_F(WorkersTest, GoFromCallToCallWithoutWaitingIfTheyAreProcesses) {
  write_two_hellos(true);
  const auto backend = open_perl(R"(
      use Socket;
      socketpair(my $one, my $other, AF_UNIX, SOCK_STREAM, PF_UNSPEC);
      my $rank = fork() ? 0 : 1;
      my $s = connect_to_harness();
      give($s, "hello$rank");
      my $calls = 0;
      answer($s, $s, sub {
        ++$calls;
        syswrite($one, 'x') if $rank == 0 && $calls == 2;
        sysread($other, my $is_there, 1) if $rank == 1 && $calls == 1; });
  )");
  std::vector<Case> stages(3, sum_of_two());
  for (Case& each : stages) each.ranks = 2;
  Observation seen;
  backend->run(stages, seen);
  EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
  EXPECT_EQ(seen.stages.size(), 3U);
}

/// A process of several ranks has to read all messages before it makes the first call.
TEST_F(WorkersTest, AreToldHowManyMessagesBelongTogether) {
  for (const bool takes : {true, false}) {
    Hello hello = hello_of({0, 1}, 2);
    hello.takes_inputs = true;
    hello.takes_together = takes;
    write("hello", to_json(hello));
    write_perl(R"(
        binmode STDIN;
        binmode STDOUT;
        answer(*STDIN, *STDOUT, sub {
          open(my $log, '>>', 'log');
          print $log $_[0] =~ /"together":(\d)/ ? $1 : 'alone'; });
    )");
    std::vector<Case> stages(3, sum_of_two());
    for (Case& each : stages) {
      each.ranks = 2;
      each.group = {0};
    }
    stages[2].input = InputKind::previous;
    Observation seen;
    open("exec perl worker.pl")->run(stages, seen);
    EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
  }
  EXPECT_EQ(read_file(folder_.path() / "log"), "22alonealonealonealone");
}

/// Two processes of one rank each, which answer the first run with what the test has written.
class TwoWorkersTest : public WorkersTest {
 protected:
  TwoWorkersTest() { write_two_hellos(false); }

  /// The answer of a rank that refuses the run.
  void refuse(int rank) const {
    write_failure("answer" + std::to_string(rank),
                  {{"status", "refused"}, {"reason", "no such call"}});
  }

  Observation run_stages(const std::vector<Case>& stages) const {
    const auto backend = open_perl(R"(
        my $rank = fork() ? 0 : 1;
        my $s = connect_to_harness();
        give($s, "hello$rank");
        sysread($s, my $run, 1);
        give($s, "answer$rank");
        while (sysread($s, $run, 4096)) {}
    )");
    Observation observation;
    backend->run(stages, observation);
    return observation;
  }
  /// Runs an all_reduce of both ranks.
  Observation run_both() const {
    Case c = sum_of_two();
    c.ranks = 2;
    return run_stages({c});
  }
};

/// What only one of them is asked for, only one may refuse.
TEST_F(TwoWorkersTest, FailIfOneRefusesWhatTheOtherCompletesAndMayBothRefuse) {
  refuse(1);
  write_result("answer0", image_);
  EXPECT_EQ(outcome_of(run_both()),
            "failed: rank 1 refused the call that rank 0 completed: no such call");
  EXPECT_EQ(run_stages(stages_at_once()).status, RunStatus::refused);
  refuse(0);
  EXPECT_EQ(outcome_of(run_both()), "refused: rank 0: no such call");
}

TEST_F(TwoWorkersTest, TakeOnePathUnlessOneSawNone) {
  const auto run_with = [&](const std::string& path0, const std::string& path1) {
    write_result("answer0", image_, path0);
    write_result("answer1", image_, path1);
    return run_both();
  };
  EXPECT_EQ(run_with("fake: ring", "fake: tree").symptom, Symptom::path);
  const std::string unseen = "fake: not seen to run";
  for (const Observation& seen :
       {run_with("fake: ring", unseen), run_with(unseen, "fake: ring"), run_with(unseen, unseen)}) {
    EXPECT_EQ(outcome_of(seen), "completed");
    EXPECT_EQ(seen.path, std::vector<std::string>{unseen});
  }
}

TEST_F(WorkersTest, AnswerWhatTheyRefuse) {
  write("refusal", {{"refusal", 1}, {"reason", "too large"}});
  const auto backend = open_and_await("cat refusal; cat > /dev/null");
  EXPECT_EQ(backend->why_refused(sum_of_two()), "too large");
  // The worker does not declare strides, so it is not even asked.
  Case strided = sum_of_two();
  cases::collective(strided).send_stride = 2;
  EXPECT_EQ(backend->why_refused(strided),
            "recv_stride, send_stride: the worker takes only dense buffers");
  Case unknown = sum_of_two("other");
  EXPECT_EQ(backend->why_refused(unknown),
            "algorithm: got \"other\", expected one that 'rankcheck list' shows for all_reduce");
  unknown.operation = "barrier";
  EXPECT_EQ(backend->why_refused(unknown), "operation: barrier is not one of the backend's");
}

/// A worker that was started for one algorithm may refuse others.
TEST_F(WorkersTest, AreAskedInAnEnvironmentThatSuitsTheAlgorithm) {
  write("hello", to_json(hello_with_other()));
  write("accepts", {{"refusal", 1}, {"reason", ""}});
  write("refuses", {{"refusal", 1}, {"reason", "started for another"}});
  const auto backend =
      open_and_await("[ -z \"$K\" ] && cat accepts || cat refuses; cat > /dev/null");
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  run_once(*backend, sum_of_two("other"));
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
}

TEST_F(WorkersTest, AreNotAskedWhatTheyDeclared) {
  nlohmann::ordered_json hello = to_json(hello_of({0, 1}, 2));
  hello["hello"]["traits"]["ranks_max"] = 2;
  hello["hello"]["traits"]["rounds"] = true;
  hello["hello"]["algorithms"][0]["takes"] = {{"op", {"sum"}}};
  write("hello", hello);
  const auto backend = open("cat > asked");
  EXPECT_TRUE(backend->traits().rounds);
  EXPECT_NE(backend->capabilities("all_reduce", ""), nullptr);
  EXPECT_EQ(backend->capabilities("all_reduce", "other"), nullptr);
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  Case c = sum_of_two();
  collective(c).op = spec::ReduceOp::max;
  EXPECT_EQ(backend->why_refused(c), "op: not offered with \"max\"");
  c = sum_of_two();
  c.ranks = 3;
  EXPECT_EQ(backend->why_refused(c), "ranks: got 3, expected at most 2 here");
  EXPECT_FALSE(backend->close());
  EXPECT_EQ(read_file(file("asked")), "");
}

TEST_F(WorkersTest, DoNotStartIfADeclarationIsWrong) {
  nlohmann::ordered_json hello = to_json(hello_of());
  hello["hello"]["algorithms"][0]["takes"] = {{"gap", 3}};
  write("hello", hello);
  EXPECT_TRUE(has(error_of_start("cat > /dev/null", true),
                  "takes of fake of all_reduce: gap: expected \"any\" or a list of values"));
}

TEST_F(WorkersTest, RefuseGivenInputsUnlessTheyTakeThem) {
  Case c = sum_of_two();
  c.input = InputKind::given;
  c.given = std::make_shared<GivenInputs>();
  EXPECT_EQ(open("cat > /dev/null")->why_refused(c),
            "input: the worker derives its inputs, and takes none that a user gave");
  Hello hello = hello_of();
  hello.takes_given = true;
  write("hello", to_json(hello));
  write("refusal", {{"refusal", 1}, {"reason", ""}});
  EXPECT_EQ(open_and_await("cat refusal; cat > /dev/null")->why_refused(c), "");
}

TEST_F(WorkersTest, MayEndWithoutAWordButCrashWhenTheyEndBadlyAfterTheLastRun) {
  EXPECT_FALSE(open("cat > /dev/null")->close());
  const auto failure = open("cat > /dev/null; echo lost a device >&2; exit 6")->close();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->status, RunStatus::crashed);
  EXPECT_EQ(failure->reason, "after the last run: sh ended with status 6: lost a device");
}

TEST_F(WorkersTest, AreKilledWithAWarningWhenTheyDoNotEndAfterTheLastRun) {
  end_timeout_ = std::chrono::milliseconds(300);
  const auto backend = open(std::string("cat > /dev/null; ") + hang_on);
  testing::internal::CaptureStderr();
  EXPECT_FALSE(backend->close()) << "no unit may fail";
  EXPECT_TRUE(worker_is_gone());
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "rankcheck: warning: after the last run: sh did not end within 0.3 s (--end-timeout); it "
      "was killed\n");
}

/// The script answers one message at a time and keeps the questions.
TEST_F(WorkersTest, RunThePreferredAlgorithmOfThoseThatTakeTheCase) {
  Hello hello = hello_of();
  hello.algorithms.push_back({{"all_reduce", "other", ""}, {}});
  hello.algorithms.push_back({{"all_reduce", "elsewhere", ""}, {{"K", "V"}}});
  write("hello", to_json(hello));
  write("no", {{"refusal", 1}, {"reason", "too large"}});
  write("yes", {{"refusal", 2}, {"reason", ""}});
  const Case c = sum_of_two("");
  const bool likes_fake = preference(c, "fake") > preference(c, "other");
  const std::string listen = "dd bs=65536 count=1 2> /dev/null > ";
  const auto backend =
      open(listen + "first; cat no; " + listen + "second; cat yes; " + listen + "run; " + answer);
  EXPECT_EQ(outcome_of(run_once(*backend, c)), "completed");
  const auto names = [&](const std::string& question, const std::string& algorithm) {
    return has(read_file(file(question)), '"' + algorithm + '"');
  };
  EXPECT_TRUE(names("first", likes_fake ? "fake" : "other"));
  EXPECT_TRUE(names("second", likes_fake ? "other" : "fake"));
  EXPECT_TRUE(names("run", likes_fake ? "other" : "fake"));
}

/// A process that shares memory as libraries do, and that a signal ends before it can remove it.
TEST_F(WorkersTest, LeaveNoSharedMemoryWhenTheyCrash) {
  const std::string shared = fmt::format("/dev/shm/rankcheck-test-{}", ::getpid());
  write_file(file("worker.py"),
             fmt::format(R"(
import mmap, os, socket
opened = open("{}", "w+b", 0)
opened.truncate(1)
memory = mmap.mmap(opened.fileno(), 1)
harness = socket.socket(socket.AF_UNIX)
harness.connect(os.environ["RANKCHECK_SOCKET"])
harness.sendall(open("hello", "rb").read())
harness.recv(1)
os.abort()
)",
                         shared));
  const auto backend = open("exec python3 worker.py", false);
  EXPECT_TRUE(std::filesystem::exists(shared));
  EXPECT_EQ(run_once(*backend).status, RunStatus::crashed);
  EXPECT_TRUE(!backend->close());
  EXPECT_FALSE(std::filesystem::exists(shared));
}

TEST_F(WorkersTest, EndWithTheBackendAndLeaveNoFiles) {
  open("echo $TMPDIR > tmpdir; cat > /dev/null").reset();
  EXPECT_TRUE(worker_is_gone());
  std::string directory;
  std::ifstream(file("tmpdir")) >> directory;
  EXPECT_FALSE(directory.empty());
  EXPECT_FALSE(std::filesystem::exists(directory));
}

}  // namespace
}  // namespace rankcheck::harness::worker
