#include "harness/run/interrupt.hpp"

#include <chrono>
#include <csignal>
#include <thread>

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

TEST(InterruptTest, TakesWhatComesWithinASecondForTheSameSignal) {
  const Interrupt interrupt;
  for (const int number : {SIGTERM, SIGTERM, SIGINT}) ASSERT_EQ(std::raise(number), 0);
  EXPECT_TRUE(interrupt.requested());
  EXPECT_EQ(interrupt.exit_status(), 128 + SIGTERM);
}

TEST(InterruptDeathTest, EndsAtOnceAtTheSecondCtrlC) {
  const auto press_twice = [] {
    const Interrupt interrupt;
    std::raise(SIGINT);
    std::this_thread::sleep_for(std::chrono::milliseconds(1050));
    std::raise(SIGINT);
  };
  EXPECT_EXIT(press_twice(), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace rankcheck::harness::run
