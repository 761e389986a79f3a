#include "cases/reconstruct/check.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "cases/reconstruct/on_devices.hpp"
#include "tests/cases/reconstruct/small_data.hpp"

namespace rankcheck::cases::reconstruct {
namespace {

class CheckStepTest : public testing::Test {
 protected:
  CheckStepTest() { before_ = starting_state(data_, data_.modes, true); }

  void step() {
    const auto running = start_on_devices(gpu::StepKind::rpie, problem_, before_);
    cost_ = running->step(1);
    after_ = running->state();
  }
  [[nodiscard]] StepCheck check(int batch = 1) const {
    return check_step(
        "rpie_step", problem_, {.before = before_, .after = after_, .batch = batch, .cost = cost_});
  }

  Dataset data_ = small_data();
  Devices devices_{2};
  Problem problem_ = devices_.problem(data_, 3);
  State before_;
  State after_;
  double cost_ = 0;
};

TEST_F(CheckStepTest, FindsThePixelThatIsWrong) {
  step();
  after_.probe[7 * 7 + 2 * 7 + 3] *= 1.1F;
  EXPECT_GT(check().ratio, 1);
  EXPECT_EQ(check().place, "probe, mode 1, pixel (2, 3)");
}

TEST_F(CheckStepTest, FindsAWrongCost) {
  step();
  cost_ *= 1.001;
  EXPECT_GT(check().ratio, 1);
  EXPECT_EQ(check().place, "cost");
}

TEST_F(CheckStepTest, FindsWhatIsNoNumber) {
  step();
  after_.object[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(check().ratio, std::numeric_limits<double>::infinity());
  EXPECT_EQ(check().place, "object, pixel (0, 0)");
}

TEST_F(CheckStepTest, FindsAStepWithOtherFrames) {
  step();
  EXPECT_GT(check(0).ratio, 1);
}

TEST_F(CheckStepTest, SaysWhenItComparedNothing) {
  std::fill(before_.probe.begin(), before_.probe.end(), 0);
  std::fill(data_.frames.begin(), data_.frames.end(), 0.0F);
  step();
  EXPECT_EQ(check().useful, 0);
}

}  // namespace
}  // namespace rankcheck::cases::reconstruct
