#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/cases/cuda/on_stand_in.hpp"

/// `rankcheck bench --backend cuda`.
namespace rankcheck {
namespace {

using tests::Outcome;

class CudaBenchTest : public tests::OnStandIn {
 protected:
  Outcome bench(const std::string& surroundings, const std::string& arguments) {
    return with(
        surroundings,
        "bench --backend cuda --min-time 0.01 --bytes 4096 --frames 64 --width 64 " + arguments);
  }
};

TEST_F(CudaBenchTest, NamesTheDevices) {
  const Outcome outcome = bench("", "--filter large/cuda/all_reduce/ring/* --json bench.json");
  EXPECT_EQ(outcome.status, 0) << outcome.out << outcome.err;
  EXPECT_TRUE(has(outcome.out + outcome.err, "stand-in, on this host"));
  const auto context = nlohmann::json::parse(text_of("bench.json")).at("context");
  EXPECT_TRUE(has(context.at("cuda").get<std::string>(), "stand-in, on this host"));
}

TEST_F(CudaBenchTest, ReadsWhatTheTimedRunsLeft) {
  const std::string filter = "--filter large/cuda/all_reduce/ring/*";
  const Outcome outcome = bench("RANKCHECK_STAND_IN=lost_replay", filter);
  EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
  EXPECT_TRUE(has(outcome.out + outcome.err, "a later run left a different result on rank 0"));
  EXPECT_EQ(bench("", filter).status, 0);
}

TEST_F(CudaBenchTest, RefusesTimesThatNothingCanTake) {
  for (const std::string fault : {"no_time", "time_backwards", "time_in_us"}) {
    const Outcome outcome =
        bench("RANKCHECK_STAND_IN=" + fault, "--filter large/cuda/all_reduce/ring/*");
    EXPECT_EQ(outcome.status, 1) << outcome.out << outcome.err;
    EXPECT_TRUE(has(outcome.out + outcome.err, "s: expected more than 0, and no more than the"))
        << fault;
  }
}

}  // namespace
}  // namespace rankcheck
