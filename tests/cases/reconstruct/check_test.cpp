#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "cases/reconstruct/solvers.hpp"
#include "tests/cases/reconstruct/small_data.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

class CheckStepTest : public testing::Test {
 protected:
  void take_step() { step_ = first_step(solver_, problem_, before_, 1); }
  void expect_wrong(const std::string& place) {
    const StepCheck check = step_.check(solver_, problem_);
    EXPECT_GT(check.ratio, 1);
    EXPECT_EQ(check.place, place);
  }

  const Solver& solver_ = find_solver("rpie");
  Dataset data_ = small_data();
  Devices devices_{2};
  Problem problem_ = devices_.problem(data_, 3);
  State before_ = starting_state(data_, data_.modes, true);
  Step step_;
};

TEST_F(CheckStepTest, FindsThePixelThatIsWrong) {
  take_step();
  step_.after.probe[7 * 7 + 2 * 7 + 3] *= 1.1F;
  expect_wrong("probe, mode 1, pixel (2, 3)");
}

TEST_F(CheckStepTest, FindsAWrongCost) {
  take_step();
  step_.cost *= 1.001;
  expect_wrong("cost");
}

TEST_F(CheckStepTest, FindsWhatIsNoNumber) {
  take_step();
  step_.after.object[0] = std::numeric_limits<float>::quiet_NaN();
  expect_wrong("object, pixel (0, 0)");
  EXPECT_EQ(step_.check(solver_, problem_).ratio, std::numeric_limits<double>::infinity());
}

TEST_F(CheckStepTest, FindsAStepWithOtherFrames) {
  take_step();
  step_.batch = 0;
  EXPECT_GT(step_.check(solver_, problem_).ratio, 1);
}

TEST_F(CheckStepTest, SaysWhenItComparedNothing) {
  std::fill(before_.probe.begin(), before_.probe.end(), 0);
  std::fill(data_.frames.begin(), data_.frames.end(), 0.0F);
  take_step();
  EXPECT_EQ(step_.check(solver_, problem_).useful, 0);
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
