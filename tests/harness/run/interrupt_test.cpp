#include "harness/run/interrupt.hpp"

#include <csignal>
#include <cstdint>

#include <gtest/gtest.h>

namespace rankcheck::harness::run {
namespace {

TEST(InterruptTest, IsToldOnceByWhateverComesTwice) {
  const Interrupt interrupt{SIGUSR1};
  EXPECT_FALSE(interrupt.requested());
  for (int i = 0; i < 2; ++i) ASSERT_EQ(std::raise(SIGUSR1), 0);
  EXPECT_TRUE(interrupt.requested());
  EXPECT_EQ(interrupt.exit_status(), 128 + SIGUSR1);
}

/// The time of the tests in nanoseconds.
std::int64_t time_ns = 1;

constexpr auto now_of_tests = [] { return time_ns; };

TEST(InterruptTest, TakesWhatComesWithinASecondForTheSameSignal) {
  const Interrupt interrupt({}, now_of_tests);
  for (const int number : {SIGTERM, SIGTERM, SIGINT}) {
    ASSERT_EQ(std::raise(number), 0);
    time_ns += 499'999'999;
  }
  EXPECT_TRUE(interrupt.requested());
  EXPECT_EQ(interrupt.exit_status(), 128 + SIGTERM);
}

TEST(InterruptDeathTest, EndsAtOnceAtTheSecondCtrlC) {
  const auto press_twice = [] {
    const Interrupt interrupt({}, now_of_tests);
    std::raise(SIGINT);
    time_ns += 1'000'000'000;
    std::raise(SIGINT);
  };
  EXPECT_EXIT(press_twice(), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace rankcheck::harness::run
