#include "cases/hardware/probe.hpp"

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/case/case.hpp"

#include "tests/harness/text.hpp"

namespace rankcheck::cases::hardware {
namespace {

using gpu::cuda::Method;
using harness::Verdict;

TEST(ProbeTest, RequestsAndResultsSurviveTheirJson) {
  const ProbeRequest request{
      .from = 1,
      .to = 2,
      .bytes = 64,
      .probe = {.method = Method::load, .seed = 3, .first = 4, .patterns = 5, .repeats = 6}};
  EXPECT_EQ(to_json(request_from_json(to_json(request))), to_json(request));
  nlohmann::json changed = to_json(request);
  changed["more"] = 1;
  EXPECT_THROW((void)request_from_json(changed), harness::BadInput);
  changed = to_json(request);
  changed["to"] = -1;
  EXPECT_THROW((void)request_from_json(changed), harness::BadInput);
  gpu::cuda::LinkResult result{.way = gpu::cuda::Way::peer,
                               .bytes_of_copy = 8,
                               .copies = 2,
                               .wrong_copies = 1,
                               .wrong_bytes = 3,
                               .first_wrong = gpu::cuda::WrongWord{7, ~std::uint64_t{0}, 1},
                               .first_wrong_pattern = 2,
                               .lost_sources = 1,
                               .seconds = {0.25, 0.5},
                               .impossible_time = "no time"};
  EXPECT_EQ(to_json(result_from_json(to_json(result))), to_json(result));
  result.first_wrong.reset();
  EXPECT_EQ(to_json(result_from_json(to_json(result))), to_json(result));
}

TEST(ProbeTest, DevicesSurviveTheirJson) {
  for (const std::string memory : {"", "host"}) {
    const Device device{
        .name = "n", .bus = "b", .capability = "9.0", .memory_bytes = 7, .memory = memory};
    EXPECT_EQ(device_from_json(to_json(device)).memory, memory);
    EXPECT_EQ(to_json(device_from_json(to_json(device))), to_json(device));
  }
}

/// A time-out that is longer than a test may take, for workers that must answer.
constexpr double long_enough_s = 3600;

/// Returns the outcome of a probe whose worker is this command.
ProbeOutcome outcome_of_worker(std::vector<std::string> command, double timeout_s = long_enough_s) {
  return run_probe({.arguments = std::move(command), .environment = {}}, timeout_s);
}

TEST(ProbeTest, WorkerMaySkipIt) {
  const std::vector<std::string> worker{"/bin/echo", R"({"skipped":"no way"})"};
  EXPECT_EQ(harness::outcome_of(outcome_of_worker(worker)), "skipped: no way");
}

TEST(ProbeTest, TellsHowAProbeEnded) {
  const auto verdict_of = [](const char* program) { return outcome_of_worker({program}).verdict; };
  EXPECT_EQ(outcome_of_worker({"/usr/bin/tail", "-f", "/dev/null"}, 0.05).verdict, Verdict::hung);
  EXPECT_EQ(verdict_of("/bin/false"), Verdict::crashed);
  EXPECT_EQ(verdict_of("/bin/true"), Verdict::errored);
  EXPECT_EQ(verdict_of("/does/not/exist"), Verdict::errored);
}

/// A script as a worker for several probes. Its answer has the number of its process as `copies`.
class ProbeWorkerTest : public testing::Test {
 protected:
  /// `special` is shell code for the device 7, which is otherwise as the others. The first answer
  /// of a process has more time than `timeout_s`.
  static ProbeWorker worker(const std::string& special, double timeout_s = long_enough_s) {
    const std::string script =
        "while read -r line; do case $line in *'\"from\":7,'*) " + special +
        ";; esac; echo '{\"way\":\"peer\",\"bytes_of_copy\":8,\"copies\":'$$',\"wrong_copies\":0,"
        "\"wrong_bytes\":0,\"lost_sources\":0,\"seconds\":[1e-6]}'; done";
    return {{.arguments = {"/bin/sh", "-c", script}, .environment = {}}, timeout_s, long_enough_s};
  }
  static ProbeRequest from(int device) { return {.from = device, .to = 0, .bytes = 8}; }
};

TEST_F(ProbeWorkerTest, AsksOneProcess) {
  ProbeWorker one = worker(":");
  const ProbeOutcome first = one.probe(from(0));
  EXPECT_EQ(first.verdict, Verdict::passed) << first.reason;
  EXPECT_GT(first.result.copies, 0);
  EXPECT_EQ(one.probe(from(7)).result.copies, first.result.copies);
}

/// Only the probe under way is to blame, and the next one has a new process.
TEST_F(ProbeWorkerTest, GoesOnInANewProcessBehindAProbeThatEndedIt) {
  ProbeWorker one = worker("echo 'no such device' >&2; exit 3");
  const auto process = one.probe(from(0)).result.copies;
  const ProbeOutcome broken = one.probe(from(7));
  EXPECT_EQ(harness::outcome_of(broken),
            "crashed: rankcheck-worker-cuda ended with status 3: no such device");
  const ProbeOutcome next = one.probe(from(0));
  EXPECT_EQ(next.verdict, Verdict::passed) << next.reason;
  EXPECT_NE(next.result.copies, process);
}

TEST_F(ProbeWorkerTest, DoesNotTakeALateAnswerForTheNextOne) {
  ProbeWorker one = worker("exec tail -f /dev/null", 0.3);
  EXPECT_EQ(one.probe(from(0)).verdict, Verdict::passed);
  EXPECT_EQ(one.probe(from(7)).verdict, Verdict::hung);
  EXPECT_EQ(one.probe(from(0)).verdict, Verdict::passed);
}

TEST_F(ProbeWorkerTest, PassesOverLinesOfALauncher) {
  ProbeWorker one = worker(R"(echo '========= a launcher'; echo '{"skipped":"no way"}'; continue)");
  EXPECT_EQ(harness::outcome_of(one.probe(from(7))), "skipped: no way");
  EXPECT_EQ(worker("echo '{'; continue").probe(from(7)).verdict, Verdict::errored);
}

TEST_F(ProbeWorkerTest, SaysThatItCannotBeStarted) {
  ProbeWorker none({.arguments = {"/does/not/exist"}, .environment = {}}, long_enough_s, 0);
  EXPECT_EQ(none.probe(from(0)).verdict, Verdict::errored);
}

TEST_F(ProbeWorkerTest, EndsWhenItIsStopped) {
  const std::atomic<bool> is_stopped = true;
  ProbeWorker one = worker("exec tail -f /dev/null");
  EXPECT_THROW((void)one.probe(from(7), {.flag = &is_stopped}), harness::Interrupted);
  EXPECT_EQ(one.probe(from(0)).verdict, Verdict::passed);
}

}  // namespace
}  // namespace rankcheck::cases::hardware
