#include "cases/hardware/speed.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "harness/case/fields.hpp"

namespace rankcheck::cases::hardware {
namespace {

using harness::BadInput;
using nlohmann::json;

TEST(SpeedTest, ReadsMeasurementsThatHaveATarget) {
  const json file{
      {"benchmarks",
       {{{"name", "cases/cuda/manual_time"}, {"cases_per_second", 19}},
        {{"name", "operators/cuda/manual_time"}, {"cases_per_second", 5}},
        {{"name", "frames/cuda/gaussian_gradients/fused/1x2048x256/iterations:1/manual_time"},
         {"floor_ratio", 1.5},
         {"bandwidth_share", 0.1}}}}};
  const std::vector<Speed> speeds = speeds_of(file);
  ASSERT_EQ(speeds.size(), 2U);
  EXPECT_EQ(speeds[0].measurement, "frames/cuda/gaussian_gradients/fused/1x2048x256");
  EXPECT_EQ(speeds[0].counter, "floor_ratio");
  EXPECT_EQ(speeds[0].value, 1.5);
  EXPECT_TRUE(speeds[0].is_met());
  EXPECT_EQ(speeds[1].measurement, "cases/cuda");
  EXPECT_EQ(speeds[1].value, 19);
  EXPECT_FALSE(speeds[1].is_met());
}

TEST(SpeedTest, TakesTheMedianOfRepetitions) {
  json file{{"benchmarks", json::array()}};
  for (const double each : {30, 10, 22}) {
    file["benchmarks"].push_back({{"name", "cases/cuda/manual_time"},
                                  {"run_type", "iteration"},
                                  {"cases_per_second", each}});
  }
  file["benchmarks"].push_back({{"name", "cases/cuda/manual_time_mean"},
                                {"run_type", "aggregate"},
                                {"cases_per_second", 20.7}});
  const std::vector<Speed> speeds = speeds_of(file);
  ASSERT_EQ(speeds.size(), 1U);
  EXPECT_EQ(speeds[0].value, 22);
  file["benchmarks"][1].erase("cases_per_second");
  EXPECT_EQ(speeds_of(file)[0].failure, "not measured") << "one of three";
}

TEST(SpeedTest, TellsWhatFailed) {
  const json file{{"benchmarks",
                   {{{"name", "cases/cuda/manual_time"},
                     {"error_occurred", true},
                     {"error_message", "the worker died"}},
                    {{"name", "large/cuda/all_reduce/direct/8x64/iterations:1/manual_time"}}}}};
  const std::vector<Speed> speeds = speeds_of(file);
  ASSERT_EQ(speeds.size(), 2U);
  EXPECT_EQ(speeds[0].failure, "not measured");
  EXPECT_EQ(speeds[1].failure, "the worker died");
}

TEST(SpeedTest, RefusesFilesWithoutATarget) {
  EXPECT_THROW((void)speeds_of(json::parse("", nullptr, false)), BadInput);
  EXPECT_THROW((void)speeds_of(json{{"benchmarks", 3}}), BadInput);
  EXPECT_THROW((void)speeds_of(json{{"benchmarks", {{{"name", 3}}}}}), BadInput);
  EXPECT_THROW((void)speeds_of(json{{"benchmarks", json::array()}}), BadInput);
}

}  // namespace
}  // namespace rankcheck::cases::hardware
