#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cli.hpp"

namespace rankcheck {
namespace {

using nlohmann::json;

class MpiBenchTest : public tests::CliTest {};

/// The MPI library alone takes about 10 MB in each of the 4 processes.
TEST_F(MpiBenchTest, CountsTheMemoryOfAllProcesses) {
  const auto outcome =
      rankcheck("bench --backend mpi --min-time 0.01 --filter 'cases/*' --json bench.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json all = json::parse(harness::read_file(folder_.path() / "bench.json"))["benchmarks"];
  ASSERT_EQ(all.size(), 1U);
  EXPECT_GT(all[0].value("cases_per_second", 0.0), 0);
  EXPECT_GT(all[0].value("peak_memory_bytes", 0.0), 40e6);
}

/// The processes of `mpi`, which is measured later, take several times as much memory. What the
/// system loads of the same program varies by a third.
TEST_F(MpiBenchTest, LeavesOtherBackendsOut) {
  const auto memory = [&](const std::string& backends, const std::string& filter) {
    const auto outcome =
        rankcheck("bench --min-time 0.01 --bytes 65536 --json bench.json --backend " + backends +
                  " --filter " + filter);
    EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
    const json all = json::parse(harness::read_file(folder_.path() / "bench.json"))["benchmarks"];
    return all.at(0).value("peak_memory_bytes", 0.0);
  };
  for (const char* filter : {"cases/sim", "large/sim/all_gather/ring/*"}) {
    EXPECT_LT(memory("sim,mpi", filter), 2 * memory("sim", filter)) << filter;
  }
}

TEST_F(MpiBenchTest, MeasuresLargeCallsAgainstTheCopyFloor) {
  const auto outcome = rankcheck(
      "bench --backend mpi --min-time 0.01 --bytes 65536 --filter "
      "'large/mpi/all_gather/*blocking/*' "
      "--json bench.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json all = json::parse(harness::read_file(folder_.path() / "bench.json"))["benchmarks"];
  ASSERT_GE(all.size(), 1U);
  for (const json& each : all) EXPECT_GT(each.value("floor_ratio", 0.0), 0) << each;
}

TEST_F(MpiBenchTest, MeasuresGradientsOnOneAndOnTwoProcesses) {
  const auto outcome = rankcheck(
      "bench --backend mpi --min-time 0.01 --frames 4 --filter "
      "'frames/mpi/gaussian_gradients/batched/*' "
      "--json bench.json");
  ASSERT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  const json all = json::parse(harness::read_file(folder_.path() / "bench.json"))["benchmarks"];
  ASSERT_EQ(all.size(), 2U);
  for (const json& each : all) EXPECT_GT(each.value("floor_ratio", 0.0), 0) << each;
}

}  // namespace
}  // namespace rankcheck
