#include "cases/commands/interrupt.hpp"

#include <csignal>

#include <gtest/gtest.h>

namespace rankcheck::cases {
namespace {

TEST(Interrupt, IsToldOnceByWhateverComesTwice) {
  const Interrupt interrupt{SIGUSR1};
  EXPECT_FALSE(interrupt.requested());
  for (int i = 0; i < 2; ++i) ASSERT_EQ(std::raise(SIGUSR1), 0);
  EXPECT_TRUE(interrupt.requested());
  EXPECT_EQ(interrupt.exit_status(), 128 + SIGUSR1);
}

TEST(InterruptDeathTest, EndsAtOnceAtTheSecondCtrlC) {
  const auto press_twice = [] {
    const Interrupt interrupt;
    for (int i = 0; i < 2; ++i) std::raise(SIGINT);
  };
  EXPECT_EXIT(press_twice(), testing::KilledBySignal(SIGINT), "");
}

}  // namespace
}  // namespace rankcheck::cases
