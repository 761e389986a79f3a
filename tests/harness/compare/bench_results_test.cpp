#include "harness/compare/bench_results.hpp"

#include <gtest/gtest.h>

#include "harness/base/files.hpp"
#include "harness/case/case.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::harness::compare {
namespace {

class BenchResultsTest : public testing::Test {
 protected:
  /// Reads a file with these entries of `benchmarks`.
  BenchResults read(const std::string& entries) {
    write_file(file_,
               R"({"context": {"date": "today", "num_cpus": 2, "cuda": "A"}, "benchmarks": [)" +
                   entries + "]}");
    return read_bench_results(file_);
  }

  std::string complaint(const std::string& entries) {
    return complaint_of<BadInput>([&] { return read(entries); });
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "bench.json";
};

TEST_F(BenchResultsTest, ReadsRepetitionsAndNoAggregates) {
  const BenchResults results = read(R"(
    {"name": "large/sim/reduce/ring/8x64/manual_time", "run_type": "iteration",
     "real_time": 5, "time_unit": "ms", "floor_ratio": 1.5},
    {"name": "large/sim/reduce/ring/8x64/manual_time", "run_type": "iteration",
     "real_time": 6, "time_unit": "ms", "floor_ratio": 1.75},
    {"name": "large/sim/reduce/ring/8x64/manual_time_mean", "run_type": "aggregate",
     "real_time": 5, "time_unit": "ms", "floor_ratio": 9},
    {"name": "cases/sim/manual_time", "real_time": 7, "time_unit": "us", "cases_per_second": 4},
    {"name": "other/iterations:1/manual_time", "real_time": 7, "time_unit": "us"})");
  ASSERT_EQ(results.measurements.size(), 3U);
  const Measurement& ring = results.measurements.at("large/sim/reduce/ring/8x64");
  EXPECT_EQ(ring.times, (std::vector<double>{1.5, 1.75}));
  EXPECT_TRUE(ring.has_floor);
  EXPECT_EQ(ring.median(), 1.625);
  EXPECT_EQ(ring.noise(), 0.25);
  EXPECT_EQ(results.measurements.at("cases/sim").times, std::vector<double>{0.25});
  EXPECT_DOUBLE_EQ(results.measurements.at("other").times.front(), 7e-6);
  EXPECT_EQ(results.context, (nlohmann::ordered_json{{"num_cpus", 2}, {"cuda", "A"}}));
}

TEST_F(BenchResultsTest, AMeasurementThatFailedSaysWhy) {
  const BenchResults results =
      read(R"({"name": "a", "error_occurred": true, "error_message": "no device"})");
  EXPECT_EQ(to_text(results.measurements.at("a")), "no device");
}

TEST_F(BenchResultsTest, RefusesWhatIsNoMeasurement) {
  const std::string place = file_.string();
  EXPECT_EQ(complaint(R"({"name": "a", "real_time": 0, "time_unit": "s"})"),
            place + ": benchmarks[0]: real_time: expected a time above 0");
  EXPECT_EQ(complaint(R"({"name": "a", "real_time": 1, "time_unit": "h"})"),
            place + ": benchmarks[0]: time_unit: h: expected ns, us, ms or s");
  EXPECT_TRUE(has(complaint("7"), "benchmarks[0]"));
  write_file(file_, R"({"simulated": []})");
  EXPECT_THROW(static_cast<void>(read_bench_results(file_)), BadInput);
}

Measurement measured(std::vector<double> times) {
  return {.times = std::move(times), .has_floor = true, .failure = ""};
}

TEST(CompareSpeedTest, OnlyWhatIsBeyondTheNoiseOfBothDiffers) {
  const Measurement before = measured({1.0, 1.1, 1.2});
  // The medians differ by 0.4. The noise of both together is 0.2 + 0.1.
  EXPECT_EQ(compare_speed(before, measured({1.5, 1.45, 1.55}), 1.1), Speed::slower);
  EXPECT_EQ(compare_speed(measured({1.5, 1.45, 1.55}), before, 1.1), Speed::faster);
  // 0.2 + 0.3 is more than the difference.
  EXPECT_EQ(compare_speed(before, measured({1.3, 1.5, 1.6}), 1.1), Speed::alike);
  EXPECT_EQ(compare_speed(before, before, 1.1), Speed::alike);
}

TEST(CompareSpeedTest, ADifferenceBelowTheFactorIsNone) {
  const Measurement before = measured({1, 1, 1});
  EXPECT_EQ(compare_speed(before, measured({1.05, 1.05}), 1.1), Speed::alike);
  EXPECT_EQ(compare_speed(before, measured({1.05, 1.05}), 1.01), Speed::slower);
}

TEST(CompareSpeedTest, WithoutNoiseNothingIsKnown) {
  EXPECT_EQ(compare_speed(measured({1, 1}), measured({9}), 1.1), Speed::unknown);
  Measurement seconds = measured({9, 9});
  seconds.has_floor = false;
  EXPECT_EQ(compare_speed(measured({1, 1}), seconds, 1.1), Speed::unknown);
  EXPECT_EQ(to_text(seconds), "9 s (9 s to 9 s)");
  EXPECT_EQ(to_text(measured({1, 3, 2})), "2 times the floor (1 to 3)");
}

TEST(CompareSpeedTest, BandwidthsAreOfBlocksOfOneSize) {
  const Measurement before{.times = {1e-3, 2e-3, 4e-3}, .bytes = 4e6};
  const Measurement now{.times = {8e-3, 8e-3, 9e-3}, .bytes = 4e6};
  EXPECT_EQ(to_text(before), "2 GB/s (1 to 4)");
  EXPECT_EQ(compare_speed(before, now, 1.1), Speed::slower);
  Measurement larger = now;
  larger.bytes = 8e6;
  EXPECT_EQ(compare_speed(before, larger, 1.1), Speed::unknown);
}

}  // namespace
}  // namespace rankcheck::harness::compare
