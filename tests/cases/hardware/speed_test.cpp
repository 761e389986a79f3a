#include "cases/hardware/speed.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/base/files.hpp"
#include "harness/case/fields.hpp"

#include "tests/harness/sample.hpp"
#include "tests/harness/text.hpp"

namespace rankcheck::cases::hardware {
namespace {

using harness::BadInput;
using nlohmann::json;

class SpeedTest : public testing::Test {
 protected:
  /// Returns the speeds in a file with these measurements.
  std::vector<Speed> speeds_of(const json& measurements) {
    harness::write_file(speed_file(folder_.path()),
                        json{{"context", json::object()}, {"benchmarks", measurements}}.dump());
    return read_speeds(folder_.path());
  }

  harness::TemporaryFolder folder_;
};

TEST_F(SpeedTest, ReadsMeasurementsThatHaveATarget) {
  const std::vector<Speed> speeds =
      speeds_of({{{"name", "cases/cuda/manual_time"}, {"cases_per_second", 19}},
                 {{"name", "operators/cuda/manual_time"}, {"cases_per_second", 5}},
                 {{"name", "frames/cuda/gaussian_gradients/fused/1x2048x256/iterations:1"},
                  {"floor_ratio", 1.5},
                  {"bandwidth_share", 0.1}}});
  ASSERT_EQ(speeds.size(), 2U);
  EXPECT_EQ(speeds[0].measurement, "frames/cuda/gaussian_gradients/fused/1x2048x256");
  EXPECT_EQ(speeds[0].counter, "floor_ratio");
  EXPECT_EQ(speeds[0].value, 1.5);
  EXPECT_TRUE(speeds[0].is_met());
  EXPECT_EQ(speeds[1].measurement, "cases/cuda");
  EXPECT_EQ(speeds[1].value, 19);
  EXPECT_FALSE(speeds[1].is_met());
}

TEST_F(SpeedTest, TakesTheMedianOfRepetitions) {
  json file = json::array();
  for (const double each : {30, 10, 22}) {
    file.push_back({{"name", "cases/cuda/manual_time"},
                    {"run_type", "iteration"},
                    {"real_time", 1},
                    {"time_unit", "s"},
                    {"cases_per_second", each}});
  }
  file.push_back({{"name", "cases/cuda/manual_time_mean"},
                  {"run_type", "aggregate"},
                  {"cases_per_second", 20.7}});
  const std::vector<Speed> speeds = speeds_of(file);
  ASSERT_EQ(speeds.size(), 1U);
  EXPECT_EQ(speeds[0].value, 22);
  file[1].erase("cases_per_second");
  EXPECT_EQ(speeds_of(file)[0].failure, "not measured") << "one of three";
}

TEST_F(SpeedTest, TellsWhatFailed) {
  const std::vector<Speed> speeds =
      speeds_of({{{"name", "cases/cuda/manual_time"}, {"real_time", 1}, {"time_unit", "s"}},
                 {{"name", "large/cuda/all_reduce/direct/8x64/iterations:1/manual_time"},
                  {"error_occurred", true},
                  {"error_message", "the worker died"}}});
  ASSERT_EQ(speeds.size(), 2U);
  EXPECT_EQ(speeds[0].failure, "the worker died");
  EXPECT_EQ(speeds[1].failure, "not measured");
}

TEST_F(SpeedTest, RefusesFilesWithoutATarget) {
  EXPECT_THROW((void)speeds_of(json::array()), BadInput);
  EXPECT_EQ(harness::complaint_of<BadInput>([this] {
              return speeds_of({{{"name", "operators/cuda"}, {"floor_ratio", 1}}});
            }),
            speed_file(folder_.path()).string() + ": expected a measurement that has a target");
}

}  // namespace
}  // namespace rankcheck::cases::hardware
