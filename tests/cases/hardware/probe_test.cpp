#include "cases/hardware/probe.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/case.hpp"

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

/// Returns the verdict of a probe whose worker is this program.
Verdict verdict_of(const std::string& program, double timeout_s) {
  return run_probe({.arguments = {program}, .environment = {}}, timeout_s).verdict;
}

TEST(ProbeTest, WorkerMaySkipIt) {
  const ProbeOutcome outcome =
      run_probe({.arguments = {"/bin/echo", R"({"skipped":"no way"})"}, .environment = {}}, 5);
  EXPECT_EQ(outcome.verdict, Verdict::skipped);
  EXPECT_EQ(outcome.reason, "no way");
}

TEST(ProbeTest, TellsHowAProbeEnded) {
  const std::string path = testing::TempDir() + "rankcheck-probe-that-hangs";
  std::ofstream(path) << "#!/bin/sh\nexec sleep 60\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  EXPECT_EQ(verdict_of(path, 0.05), Verdict::hung);
  std::filesystem::remove(path);
  EXPECT_EQ(verdict_of("/bin/false", 5), Verdict::crashed);
  EXPECT_EQ(verdict_of("/bin/true", 5), Verdict::errored);
  EXPECT_EQ(verdict_of("/does/not/exist", 5), Verdict::errored);
}

}  // namespace
}  // namespace rankcheck::cases::hardware
