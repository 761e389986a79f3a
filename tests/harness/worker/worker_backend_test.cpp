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
#include "tests/harness/worker/sum_case.hpp"

/// Workers that misbehave. They are shell scripts that send frames which the test has written to
/// files.
namespace rankcheck::harness::worker {
namespace {

using cases::collective;
using Clock = std::chrono::steady_clock;

/// A time-out that is longer than a test may take, for workers that must answer. Workers that never
/// answer have a short one.
constexpr std::chrono::hours long_enough{1};

class WorkersTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string path = testing::TempDir() + "rankcheck-test-XXXXXX";
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path;
    Hello hello;
    hello.ranks = {0};
    hello.traits.name = "fake";
    hello.algorithms = {{{"all_reduce", "fake", ""}, {}}};
    write("hello", to_json(hello));
    ImageLayout layout;
    lay_out(*contract_of_sum("all_reduce"), sum_of_two(), 0, ResultPlace::own_block, layout);
    image_.resize(static_cast<std::size_t>(layout.size), std::byte{7});
    write_result("result", image_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return folder_ + "/" + name; }

  void write(const std::string& name, const nlohmann::ordered_json& header) const {
    EXPECT_TRUE(connect(name).send(header));
  }
  void write_result(const std::string& name,
                    const Image& image,
                    const std::string& path = "fake") const {
    Observation result;
    result.path = {path};
    result.stages = {{{image}, {{1, 2}}}};
    Connection connection = connect(name);
    EXPECT_TRUE(send_result(connection, 1, result));
  }

  /// Opens a backend whose worker says hello and then executes the script.
  std::unique_ptr<WorkerBackend> open(const std::string& script, bool greets = true) const {
    const std::string text =
        "cd " + folder_ + "; echo $$ > pid; " + (greets ? "cat hello; " : "") + script;
    return std::make_unique<WorkerBackend>(WorkerOptions{
        .command =
            [text](const std::string&, int ranks) {
              return Command{{"sh", "-c", fmt::format("ranks={}; {}", ranks, text)}, {}};
            },
        .ranks = 4,
        .contract_of = contract_of_sum,
        .may_use_standard_io = true,
        .start_timeout = start_timeout_,
        .run_timeout = run_timeout_,
        .end_timeout = end_timeout_,
        .now = [this] { return now(); },
        .stop = {.flag = &stop_},
    });
  }

  /// Makes the workers' time stand still until a worker has made this file, so that what the worker
  /// sent before has arrived. Then each look at the clock takes 0.1 s. The first look that finds
  /// the file takes no time, because it may come after the last look at the connection.
  void stop_time_until(const std::string& name) {
    passes_time_ = [path = file(name), was_there = false]() mutable {
      return std::exchange(was_there, std::filesystem::exists(path));
    };
  }

  Observation run(const std::string& script) const {
    const auto backend = open(script);
    Observation observation;
    const Case c = sum_of_two();
    backend->run(std::span(&c, 1), observation);
    return observation;
  }

  std::string error_of_start(const std::string& script, bool greets = false) const {
    try {
      open(script, greets);
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return {};
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

  std::string folder_;
  Image image_;
  std::atomic<bool> stop_ = false;
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
  Connection connect(const std::string& name) const {
    return {-1, ::open(file(name).c_str(), O_CREAT | O_WRONLY, 0600)};
  }

  mutable Clock::time_point time_ = Clock::now();
};

// The script continues when the run has arrived.
constexpr const char* await_run = "head -c 1 > /dev/null; ";
// The script does nothing more, and ends only by a signal.
constexpr const char* hang = "exec tail -f /dev/null";
constexpr const char* hang_on = "trap '' TERM; exec tail -f /dev/null";
// The script tells expect_interrupted() that the backend waits for it, and does nothing more.
constexpr const char* waits = "echo > arrived; trap '' TERM; exec tail -f /dev/null";

/// A replay starts as many ranks as its case has.
TEST_F(WorkersTest, RestartsWithTheRanksOfACase) {
  const auto backend = open("echo $ranks >> started");
  Observation observation;
  const Case c = sum_of_two();
  for (const int ranks : {2, 0}) {
    backend->restart(ranks);
    backend->run(std::span(&c, 1), observation);
  }
  EXPECT_EQ(read_file(file("started")), "4\n2\n4\n");
}

TEST_F(WorkersTest, AreAllAskedAfterAReplayWithFewer) {
  const auto backend = open("echo $ranks >> started");
  Observation observation;
  const Case c = sum_of_two();
  backend->restart(2);
  backend->run(std::span(&c, 1), observation);
  backend->restart(0);
  static_cast<void>(backend->why_refused(c));
  EXPECT_EQ(read_file(file("started")), "4\n2\n4\n");
}

TEST_F(WorkersTest, DeliverImagesStampsAndPath) {
  const Observation seen = run(std::string(await_run) + "cat result; cat > /dev/null");
  EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
  ASSERT_EQ(seen.stages.size(), 1U);
  EXPECT_EQ(seen.stages[0].images.at(0), image_);
  EXPECT_EQ(seen.stages[0].stamps.at(0).left, 2);
  EXPECT_EQ(seen.path, std::vector<std::string>{"fake"});
}

TEST_F(WorkersTest, CrashWithTheirSignalAndLastWords) {
  const Observation seen = run(std::string(await_run) + "echo 'bad pointer' >&2; kill -SEGV $$");
  EXPECT_EQ(seen.status, RunStatus::crashed);
  EXPECT_NE(seen.reason.find("signal 11"), std::string::npos) << seen.reason;
  EXPECT_NE(seen.reason.find("bad pointer"), std::string::npos) << seen.reason;
}

TEST_F(WorkersTest, CrashWhenTheyCloseTheirOutput) {
  const Observation seen = run(std::string(await_run) + "exit 3");
  EXPECT_EQ(seen.status, RunStatus::crashed);
  EXPECT_NE(seen.reason.find("status 3"), std::string::npos) << seen.reason;
}

TEST_F(WorkersTest, CrashInACallOfNoElements) {
  const auto reason = [&](const std::string& script) {
    const auto backend = open(std::string(await_run) + script);
    Case c = sum_of_two();
    c.count = 0;
    Observation seen;
    backend->run(std::span(&c, 1), seen);
    EXPECT_EQ(seen.status, RunStatus::crashed);
    return seen.reason;
  };
  EXPECT_TRUE(reason("exit 3").starts_with("rank 0 died in stage 0 (all_reduce of 0 elements); "))
      << reason("exit 3");
  write("progress", {{"progress", 1}, {"rank", 0}, {"stage", 0}});
  EXPECT_TRUE(reason("cat progress; exit 3")
                  .starts_with("rank 0 died; rank 0 entered stage 0 (all_reduce of 0 elements); "))
      << reason("cat progress; exit 3");
}

TEST_F(WorkersTest, HangInTheStageThatTheyEntered) {
  write("progress", {{"progress", 1}, {"rank", 0}, {"stage", 0}});
  run_timeout_ = std::chrono::milliseconds(300);
  stop_time_until("entered");
  const Observation seen = run(std::string(await_run) + "cat progress; : > entered; " + hang_on);
  EXPECT_EQ(seen.status, RunStatus::hung);
  EXPECT_NE(seen.reason.find("rank 0 entered stage 0 (all_reduce)"), std::string::npos)
      << seen.reason;
  EXPECT_TRUE(worker_is_gone());
}

TEST_F(WorkersTest, HangWhereTheySayOfTheirProgressForEver) {
  write("progress", {{"progress", 1}, {"rank", 0}, {"stage", 0}});
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
  Observation seen;
  const Case c = sum_of_two();
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::hung);
  EXPECT_EQ(seen.reason, "no result within 3 s: rank 0 entered stage 0 (all_reduce)");
}

TEST_F(WorkersTest, HangWhereTheyNeverFinishAMessage) {
  run_timeout_ = std::chrono::milliseconds(300);
  const Observation seen =
      run(std::string(await_run) + R"(printf '\0\0\0\1'; while :; do printf x; done)");
  EXPECT_EQ(seen.status, RunStatus::hung);
  EXPECT_EQ(seen.reason, "no answer within 0.3 s: rank 0 entered no stage");
}

/// Large images take time on their way. Whoever is in a hurry waits for a tenth of the time-out,
/// but half a second at least.
TEST_F(WorkersTest, HangAfterATimeThatGrowsWithTheImages) {
  run_timeout_ = std::chrono::seconds(1);
  const auto backend = open("cat > /dev/null");
  backend->hurry(true);
  Case c = sum_of_two();
  Observation seen;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::hung);
  EXPECT_EQ(seen.reason, "no answer within 0.5 s: rank 0 entered no stage");
  c.count = 1 << 21;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::hung);
  EXPECT_EQ(seen.reason, "no answer within 1.5 s: rank 0 entered no stage");
  backend->hurry(false);
  c.count = 2;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.reason, "no answer within 1 s: rank 0 entered no stage");
}

TEST_F(WorkersTest, HangWhereTheyDoNotReadTheirInputs) {
  Hello hello;
  hello.ranks = {0};
  hello.algorithms = {{{"all_reduce", "fake", ""}, {}}};
  hello.takes_inputs = true;
  write("hello_sent", to_json(hello));
  run_timeout_ = std::chrono::milliseconds(300);
  const auto backend = open(std::string("cat hello_sent; ") + hang, false);
  Case c = sum_of_two();
  c.count = 1 << 18;
  Observation seen;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::hung);
  EXPECT_EQ(seen.reason, "rank 0: reads nothing within 0.3 s");
}

/// Output that arrives faster than it is read must not prevent the check of the time.
TEST_F(WorkersTest, HangThoughTheyComplainWithoutEnd) {
  run_timeout_ = std::chrono::milliseconds(300);
  EXPECT_EQ(run(std::string(await_run) + "yes >&2").status, RunStatus::hung);
}

TEST_F(WorkersTest, HangInTheNextRunWhereAnAnswerIsNeverFinished) {
  run_timeout_ = std::chrono::milliseconds(300);
  const auto backend = open(R"(printf '\0\0\0\1'; while :; do printf x; done)");
  const Case c = sum_of_two();
  EXPECT_EQ(backend->why_refused(c), "");
  Observation seen;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::hung) << seen.reason;
}

TEST_F(WorkersTest, AreNotJudgedOnceAStopIsMade) {
  const Case c = sum_of_two();
  Observation seen;
  const auto backend = open(std::string(await_run) + waits);
  expect_interrupted([&] { backend->run(std::span(&c, 1), seen); });
  EXPECT_FALSE(backend->close());
  EXPECT_TRUE(worker_is_gone());
}

TEST_F(WorkersTest, WhoseDeathComesWithTheStopAreNotJudged) {
  const auto backend = open(std::string(await_run) + "kill -TERM $$");
  const Case c = sum_of_two();
  Observation seen;
  stop_ = true;
  EXPECT_THROW(backend->run(std::span(&c, 1), seen), Interrupted);
}

TEST_F(WorkersTest, AreNotWaitedForOnceAStopIsMade) {
  const Case c = sum_of_two();
  const auto backend = open(std::string(await_run) + waits);
  expect_interrupted([&] { static_cast<void>(backend->why_refused(c)); });
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
    const Observation seen = run(std::string(await_run) + "cat progress; cat > /dev/null");
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
            "rank: got 0.5, expected a whole number in its range");
}

TEST_F(WorkersTest, AreInErrorWhenTheyTalkNonsense) {
  const Observation seen = run(std::string(await_run) + "echo this is no frame; cat > /dev/null");
  EXPECT_EQ(seen.status, RunStatus::errored);
  const std::string said =
      "breaks the worker protocol: got the text \"this is no frame\", expected a message: a worker "
      "whose messages are its standard output must print nothing else there";
  EXPECT_NE(seen.reason.find(said), std::string::npos) << seen.reason;
  EXPECT_TRUE(worker_is_gone());
}

TEST_F(WorkersTest, AreInErrorWhenAnImageHasTheWrongSize) {
  write_result("short", Image(3));
  const Observation seen = run(std::string(await_run) + "cat short; cat > /dev/null");
  EXPECT_EQ(seen.status, RunStatus::errored);
  EXPECT_NE(seen.reason.find(", got 3: the send buffer at 64 is missing"), std::string::npos)
      << seen.reason;
}

TEST_F(WorkersTest, AreInErrorWhenAResultIsOfAnotherRun) {
  Observation result;
  nlohmann::ordered_json other{{"result", 77}, {"status", "completed"}};
  write("other", other);
  EXPECT_EQ(run(std::string(await_run) + "cat other; cat > /dev/null").status, RunStatus::errored);
}

TEST_F(WorkersTest, AreStartedAfreshAfterACrash) {
  const auto backend = open(std::string(await_run) +
                            "if mkdir once; then kill -KILL $$; fi; cat result; cat > /dev/null");
  Observation seen;
  const Case c = sum_of_two();
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::crashed);
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
}

/// The signal of a parent's death is sent when the thread that started the worker ends. Runs come
/// from many threads.
TEST_F(WorkersTest, OutliveTheThreadThatStartedThem) {
  std::unique_ptr<WorkerBackend> backend;
  std::thread([&] {
    backend = open(std::string(await_run) + "cat result; cat > /dev/null");
  }).join();
  Observation seen;
  const Case c = sum_of_two();
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
}

TEST_F(WorkersTest, CrashInTheNextRunWhenTheyDieBetweenRuns) {
  const auto backend =
      open(std::string(await_run) + "cat result; if mkdir once; then exit 5; fi; cat > /dev/null");
  Observation seen;
  const Case c = sum_of_two();
  backend->run(std::span(&c, 1), seen);
  ASSERT_EQ(seen.status, RunStatus::completed) << seen.reason;
  // Neither question may start new workers, because this would hide the crash.
  EXPECT_EQ(backend->why_refused(c), "");
  EXPECT_EQ(backend->why_refused(c), "");
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::crashed) << seen.reason;
  EXPECT_EQ(seen.symptom, Symptom::from_before);
  EXPECT_NE(seen.reason.find("rank 0 died; the worker ended with status 5"), std::string::npos)
      << seen.reason;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
  EXPECT_EQ(seen.symptom, Symptom::none);
}

TEST_F(WorkersTest, CrashInTheNextRunThoughThatWantsAnotherEnvironment) {
  Hello hello;
  hello.ranks = {0};
  hello.algorithms = {{{"all_reduce", "fake", ""}, {}},
                      {{"all_reduce", "other", ""}, {{"K", "V"}}}};
  write("hello", to_json(hello));
  const auto backend = open(std::string(await_run) + "cat result; exit 5");
  Observation seen;
  Case c = sum_of_two();
  backend->run(std::span(&c, 1), seen);
  ASSERT_EQ(seen.status, RunStatus::completed) << seen.reason;
  await_end_of_worker();
  c.algorithm = "other";
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::crashed) << seen.reason;
}

TEST_F(WorkersTest, SayThatAnotherAlgorithmRan) {
  const auto result_with = [&](const char* symptom) {
    write("failed",
          {{"result", 1},
           {"status", "failed"},
           {"reason", "not seen"},
           {"symptom", symptom},
           {"path", nlohmann::json::array()},
           {"stamps", nlohmann::json::array()},
           {"sizes", nlohmann::json::array()}});
    return run(std::string(await_run) + "cat failed; cat > /dev/null");
  };
  const Observation seen = result_with("path");
  EXPECT_EQ(seen.status, RunStatus::failed);
  EXPECT_EQ(seen.symptom, Symptom::path);
  std::filesystem::remove(file("failed"));
  const Observation wrong = result_with("value");
  EXPECT_EQ(wrong.status, RunStatus::errored);
  EXPECT_NE(wrong.reason.find(R"(symptom: got "value", expected "path")"), std::string::npos)
      << wrong.reason;
}

TEST_F(WorkersTest, AreStartedAfreshWhenTheyGiveUpACall) {
  write("hung",
        {{"result", 1},
         {"status", "hung"},
         {"reason", "not done in time"},
         {"path", nlohmann::json::array()},
         {"stamps", nlohmann::json::array()},
         {"sizes", nlohmann::json::array()}});
  const auto backend =
      open(std::string(await_run) +
           "if mkdir once; then cat hung; cat > /dev/null; fi; cat result; cat > /dev/null");
  Observation seen;
  const Case c = sum_of_two();
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::hung);
  EXPECT_EQ(seen.reason, "rank 0: not done in time");
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
}

TEST_F(WorkersTest, HangInTheNextRunWhenTheyDoNotAnswerAQuestion) {
  run_timeout_ = std::chrono::milliseconds(300);
  const auto backend = open(hang);
  const Case c = sum_of_two();
  EXPECT_EQ(backend->why_refused(c), "");
  Observation seen;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::hung) << seen.reason;
}

TEST_F(WorkersTest, AreGivenUpAtOnceWhenTheyEndWithoutAWord) {
  const WorkerOptions options{.command =
                                  [](const std::string&, int) {
                                    return Command{{"/bin/true"}, {}};
                                  },
                              .contract_of = contract_of_sum,
                              .may_use_standard_io = true,
                              .start_timeout = long_enough};
  try {
    WorkerBackend backend(options);
    ADD_FAILURE() << "it has said no hello";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/bin/true ended with status 0"), std::string::npos)
        << error.what();
  }
}

TEST_F(WorkersTest, SayWhyTheyDoNotStart) {
  EXPECT_NE(error_of_start("echo no such device >&2; exit 4").find("no such device"),
            std::string::npos);
  start_timeout_ = std::chrono::milliseconds(500);
  stop_time_until("begun");
  const std::string silent = std::string(": > begun; ") + hang;
  const std::string expected =
      "still starting after 0.5 s, no rank has said hello: raise --start-timeout; expected a frame";
  EXPECT_NE(error_of_start(silent).find(expected), std::string::npos);
  EXPECT_TRUE(worker_is_gone());
  stop_time_until("said");
  const std::string of_text =
      error_of_start(std::string("echo hi there, nice to meet you; : > said; ") + hang);
  EXPECT_NE(of_text.find(expected), std::string::npos) << of_text;
  EXPECT_NE(of_text.find("or as the first output: hi there, nice to meet you"), std::string::npos)
      << of_text;
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
    EXPECT_EQ(why.find("got text before the hello on the standard output"), 0U) << why;
  }
}

/// A process that prints before it connects, and while it runs. Its ranks are on the socket.
TEST_F(WorkersTest, PrintWhatTheyLikeIfTheyUseTheSocket) {
  std::ofstream(file("worker.pl")) << R"(
      use IO::Socket::UNIX;
      $| = 1;
      print "the library says hello\n";
      my $s = IO::Socket::UNIX->new(Peer => $ENV{RANKCHECK_SOCKET});
      sub give { open(my $f, '<', $_[0]); local $/; print {$s} <$f>; $s->flush; }
      give('hello');
      sysread($s, my $run, 1);
      print 'x' x 1000000, "\n";
      give('result');
      while (sysread($s, $run, 4096)) {}
  )";
  testing::internal::CaptureStderr();
  const auto backend = open("exec perl worker.pl", false);
  Observation seen;
  const Case c = sum_of_two();
  backend->run(std::span(&c, 1), seen);
  const std::string printed = testing::internal::GetCapturedStderr();
  EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
  EXPECT_EQ(printed.find("the library says hello"), 0U) << printed.substr(0, 100);
  EXPECT_GE(printed.size(), 1000000U);
  EXPECT_FALSE(backend->close());
}

/// A worker that knows nothing about inputs: it copies what it gets from send to recv. Alone, a
/// rank of all_reduce has to do no more.
TEST_F(WorkersTest, GetTheirInputsIfTheyAskForThem) {
  Hello hello;
  hello.ranks = {0};
  hello.traits.name = "fake";
  hello.algorithms = {{{"all_reduce", "fake", ""}, {}}};
  hello.takes_inputs = true;
  write("hello_sent", to_json(hello));
  std::ofstream(file("worker.pl")) << R"(
      binmode STDIN;
      binmode STDOUT;
      $| = 1;
      sub get { my $n = shift; my $b = ''; while (length($b) < $n) {
          sysread(STDIN, $b, $n - length($b), length($b)) or exit 0; } return $b; }
      while (1) {
        my $h = get(unpack('V', get(4)));
        my ($n) = $h =~ /"payload":(\d+)/;
        my $image = get($n);
        my ($run) = $h =~ /"run":(\d+)/;
        my ($send, $bytes) = $h =~ /"send":\{"offset":(\d+),"bytes":(\d+)/;
        my ($recv) = $h =~ /"recv":\{"offset":(\d+)/;
        substr($image, $recv, $bytes) = substr($image, $send, $bytes);
        my $r = qq({"result":$run,"status":"completed","path":["fake"],"stamps":[[[1,2]]],) .
                qq("sizes":[[$n]],"payload":$n});
        print pack('V', length($r)), $r, $image;
      }
  )";
  const auto backend = open("cat hello_sent; exec perl worker.pl", false);
  Observation seen;
  std::vector<Case> stages(2, sum_of_two());
  stages[1].input = InputKind::previous;
  backend->run(stages, seen);
  ASSERT_EQ(seen.status, RunStatus::completed) << seen.reason;
  ImageLayout layout;
  lay_out(*contract_of_sum("all_reduce"), stages[0], 0, ResultPlace::own_block, layout);
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

/// Two processes that answer only after both have got a run: each is a group of its own.
TEST_F(WorkersTest, GroupsCallAtTheSameTimeIfTheyAreProcesses) {
  for (const int rank : {0, 1}) {
    Hello hello;
    hello.world = 2;
    hello.ranks = {rank};
    hello.traits.name = "fake";
    hello.algorithms = {{{"all_reduce", "fake", ""}, {}}};
    hello.takes_inputs = true;
    write("hello" + std::to_string(rank), to_json(hello));
  }
  std::ofstream(file("worker.pl")) << R"(
      use IO::Socket::UNIX;
      use Socket;
      socketpair(my $one, my $other, AF_UNIX, SOCK_STREAM, PF_UNSPEC);
      my @ends = ($one, $other);
      my $rank = fork() ? 0 : 1;
      my $s = IO::Socket::UNIX->new(Peer => $ENV{RANKCHECK_SOCKET});
      open(my $f, '<', "hello$rank"); local $/; print {$s} <$f>; $s->flush;
      sub get { my $n = shift; my $b = ''; while (length($b) < $n) {
          sysread($s, $b, $n - length($b), length($b)) or exit 0; } return $b; }
      while (1) {
        my $h = get(unpack('V', get(4)));
        my ($n) = $h =~ /"payload":(\d+)/;
        my $image = get($n);
        my ($run, $stage) = $h =~ /"run":(\d+),"stage":(\d+)/;
        syswrite($ends[$rank], 'x');
        sysread($ends[$rank], my $both_are_here, 1);
        my $r = qq({"result":$run,"status":"completed","path":["fake"],"stamps":[[[1,2]]],) .
                qq("sizes":[[$n]],"payload":$n});
        print {$s} pack('V', length($r)), $r, $image;
        $s->flush;
      }
  )";
  const auto backend = open("exec perl worker.pl", false);
  Observation seen;
  std::vector<Case> stages(2, sum_of_two());
  for (Case& each : stages) each.ranks = 2;
  stages[0].group = {0};
  stages[1].group = {1};
  for (int run = 0; run < 2; ++run) {
    backend->run(stages, seen);
    ASSERT_EQ(seen.status, RunStatus::completed) << seen.reason;
    for (const StageOutcome& stage : seen.stages) EXPECT_EQ(stage.images.size(), 1U);
    EXPECT_EQ(seen.path, (std::vector<std::string>{"fake", "fake"}));
  }
}

/// Two processes of one rank each, which answer the first run with what the test has written.
class TwoWorkersTest : public WorkersTest {
 protected:
  void SetUp() override {
    WorkersTest::SetUp();
    for (const int rank : {0, 1}) {
      Hello hello;
      hello.world = 2;
      hello.ranks = {rank};
      hello.traits.name = "fake";
      hello.algorithms = {{{"all_reduce", "fake", ""}, {}}};
      write("hello" + std::to_string(rank), to_json(hello));
    }
    std::ofstream(file("worker.pl")) << R"(
        use IO::Socket::UNIX;
        my $rank = fork() ? 0 : 1;
        my $s = IO::Socket::UNIX->new(Peer => $ENV{RANKCHECK_SOCKET});
        sub give { open(my $f, '<', $_[0]); local $/; print {$s} <$f>; $s->flush; }
        give("hello$rank");
        sysread($s, my $run, 1);
        give("answer$rank");
        while (sysread($s, $run, 4096)) {}
    )";
  }

  /// The answer of a rank that refuses the run.
  void refuse(int rank) const {
    const nlohmann::ordered_json none = nlohmann::ordered_json::array();
    write("answer" + std::to_string(rank),
          {{"result", 1},
           {"status", "refused"},
           {"reason", "no such call"},
           {"path", none},
           {"stamps", none},
           {"sizes", none}});
  }

  Observation run_stages(const std::vector<Case>& stages) const {
    const auto backend = open("exec perl worker.pl", false);
    Observation observation;
    backend->run(stages, observation);
    return observation;
  }
};

TEST_F(TwoWorkersTest, FailIfOneRefusesWhatTheOtherCompletes) {
  refuse(1);
  write_result("answer0", image_);
  Case c = sum_of_two();
  c.ranks = 2;
  const Observation seen = run_stages({c});
  EXPECT_EQ(seen.status, RunStatus::failed);
  EXPECT_EQ(seen.reason, "rank 1 refused the call that rank 0 completed: no such call");
}

TEST_F(TwoWorkersTest, TakeOnePathUnlessOneSawNone) {
  Case c = sum_of_two();
  c.ranks = 2;
  const auto run_with = [&](const std::string& path0, const std::string& path1) {
    for (const char* each : {"answer0", "answer1"}) std::filesystem::remove(file(each));
    write_result("answer0", image_, path0);
    write_result("answer1", image_, path1);
    return run_stages({c});
  };
  EXPECT_EQ(run_with("fake: ring", "fake: tree").symptom, Symptom::path);
  const std::string unseen = "fake: not seen to run";
  for (const Observation& seen :
       {run_with("fake: ring", unseen), run_with(unseen, "fake: ring"), run_with(unseen, unseen)}) {
    EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
    EXPECT_EQ(seen.path, std::vector<std::string>{unseen});
  }
}

TEST_F(TwoWorkersTest, MayBothRefuse) {
  refuse(0);
  refuse(1);
  Case c = sum_of_two();
  c.ranks = 2;
  const Observation seen = run_stages({c});
  EXPECT_EQ(seen.status, RunStatus::refused);
  EXPECT_EQ(seen.reason, "rank 0: no such call");
}

/// The rank that completes was not asked for the call that the other one refuses.
TEST_F(TwoWorkersTest, MayRefuseTheCallOfAGroup) {
  refuse(1);
  write_result("answer0", image_);
  std::vector<Case> stages(2, sum_of_two());
  for (Case& each : stages) each.ranks = 2;
  stages[0].group = {0};
  stages[1].group = {1};
  EXPECT_EQ(run_stages(stages).status, RunStatus::refused);
}

TEST_F(WorkersTest, AreMissingWhenThereIsNoSuchProgram) {
  WorkerOptions options{.command =
                            [](const std::string&, int) {
                              return Command{{"/nowhere/worker"}, {}};
                            },
                        .contract_of = contract_of_sum,
                        .may_use_standard_io = true};
  EXPECT_THROW(WorkerBackend backend(options), std::runtime_error);
}

TEST_F(WorkersTest, AnswerWhatTheyRefuse) {
  write("refusal", {{"refusal", 1}, {"reason", "too large"}});
  const auto backend = open(std::string(await_run) + "cat refusal; cat > /dev/null");
  EXPECT_EQ(backend->why_refused(sum_of_two()), "too large");
  // The worker does not declare strides, so it is not even asked.
  Case strided = sum_of_two();
  cases::collective(strided).send_stride = 2;
  EXPECT_EQ(backend->why_refused(strided),
            "recv_stride, send_stride: the worker takes only dense buffers");
  Case unknown = sum_of_two();
  unknown.algorithm = "other";
  EXPECT_EQ(backend->why_refused(unknown),
            "algorithm: got \"other\", expected one that 'rankcheck list' shows for all_reduce");
  unknown.operation = "barrier";
  EXPECT_EQ(backend->why_refused(unknown), "operation: barrier is not one of the backend's");
}

/// A worker that was started for one algorithm may refuse others.
TEST_F(WorkersTest, AreAskedInAnEnvironmentThatSuitsTheAlgorithm) {
  Hello hello;
  hello.ranks = {0};
  hello.algorithms = {{{"all_reduce", "fake", ""}, {}},
                      {{"all_reduce", "other", ""}, {{"K", "V"}}}};
  write("hello", to_json(hello));
  write("accepts", {{"refusal", 1}, {"reason", ""}});
  write("refuses", {{"refusal", 1}, {"reason", "started for another"}});
  const auto backend =
      open(std::string(await_run) + "[ -z \"$K\" ] && cat accepts || cat refuses; cat > /dev/null");
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
  Case other = sum_of_two();
  other.algorithm = "other";
  Observation seen;
  backend->run(std::span(&other, 1), seen);
  EXPECT_EQ(backend->why_refused(sum_of_two()), "");
}

TEST_F(WorkersTest, AreNotAskedWhatTheyDeclared) {
  nlohmann::ordered_json hello;
  hello["hello"] = {{"protocol", 1},
                    {"world", 2},
                    {"ranks", {0, 1}},
                    {"traits",
                     {{"name", "fake"},
                      {"nan_rule", "drops"},
                      {"result_place", "own_block"},
                      {"ranks_max", 2},
                      {"rounds", true},
                      {"deterministic", true}}},
                    {"algorithms",
                     {{{"operation", "all_reduce"},
                       {"name", "fake"},
                       {"summary", ""},
                       {"takes", {{"op", {"sum"}}}}}}}};
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
  write("hello",
        {{"hello",
          {{"protocol", 1},
           {"world", 1},
           {"ranks", {0}},
           {"traits",
            {{"name", "fake"},
             {"nan_rule", "drops"},
             {"result_place", "own_block"},
             {"ranks_max", 1},
             {"deterministic", true}}},
           {"algorithms",
            {{{"operation", "all_reduce"},
              {"name", "fake"},
              {"summary", ""},
              {"takes", {{"gap", 3}}}}}}}}});
  EXPECT_NE(error_of_start("cat > /dev/null", true)
                .find("takes of fake of all_reduce: gap: expected \"any\" or a list of values"),
            std::string::npos)
      << error_of_start("cat > /dev/null", true);
}

TEST_F(WorkersTest, RefuseGivenInputsUnlessTheyTakeThem) {
  Case c = sum_of_two();
  c.input = InputKind::given;
  c.given = std::make_shared<GivenInputs>();
  EXPECT_EQ(open("cat > /dev/null")->why_refused(c),
            "input: the worker derives its inputs, and takes none that a user gave");
  Hello hello;
  hello.ranks = {0};
  hello.traits.name = "fake";
  hello.algorithms = {{{"all_reduce", "fake", ""}, {}}};
  hello.takes_given = true;
  write("hello_given", to_json(hello));
  write("refusal", {{"refusal", 1}, {"reason", ""}});
  const auto backend =
      open("cat hello_given; " + std::string(await_run) + "cat refusal; cat > /dev/null", false);
  EXPECT_EQ(backend->why_refused(c), "");
}

TEST_F(WorkersTest, MayEndWithoutAWord) {
  EXPECT_FALSE(open("cat > /dev/null")->close());
}

TEST_F(WorkersTest, CrashWhenTheyEndBadlyAfterTheLastRun) {
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
  Hello hello;
  hello.ranks = {0};
  hello.algorithms = {{{"all_reduce", "fake", ""}, {}},
                      {{"all_reduce", "other", ""}, {}},
                      {{"all_reduce", "elsewhere", ""}, {{"K", "V"}}}};
  write("hello", to_json(hello));
  write("no", {{"refusal", 1}, {"reason", "too large"}});
  write("yes", {{"refusal", 2}, {"reason", ""}});
  Case c = sum_of_two();
  c.algorithm.clear();
  const bool likes_fake = preference(c, "fake") > preference(c, "other");
  const std::string listen = "dd bs=65536 count=1 2> /dev/null > ";
  const auto backend = open(listen + "first; cat no; " + listen + "second; cat yes; " + listen +
                            "run; cat result; cat > /dev/null");
  Observation seen;
  backend->run(std::span(&c, 1), seen);
  EXPECT_EQ(seen.status, RunStatus::completed) << seen.reason;
  const auto names = [&](const std::string& question, const std::string& algorithm) {
    return read_file(file(question)).find('"' + algorithm + '"') != std::string::npos;
  };
  EXPECT_TRUE(names("first", likes_fake ? "fake" : "other"));
  EXPECT_TRUE(names("second", likes_fake ? "other" : "fake"));
  EXPECT_TRUE(names("run", likes_fake ? "other" : "fake"));
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
