#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::object_preconditioner {
namespace {

using spec::Array;

/// A row of two pixels and windows of one pixel in frames of three. The first window lies a quarter
/// of a pixel to the right of the first pixel. The second window lies on the second pixel.
OperatorArrays quarter() {
  OperatorArrays in =
      empty_arrays({.rows = 1, .cols = 2, .window = 1, .detector = 3, .modes = 2}, {1, 1});
  in.make(Array::positions).values = {0, 0.25, 0, 1};
  in.make(Array::probe).values = {2, 2.0 + 2i};
  return in;
}

TEST(ObjectPreconditionerTest, AllModesOfAllPositionsLightThePixels) {
  // Both modes have 4 + 8 = 12. Pixel 0 gets 3/4 of it. Pixel 1 gets 1/4, and all of the second.
  EXPECT_EQ(outputs_of(reference, quarter())[Array::object_weight].values, (Values{9, 3 + 12}));
}

TEST(ObjectPreconditionerTest, APositionOfAVaryingProbeHasItsOwnLight) {
  // The probes have 1 + 3 = 4 and 4 + 16 = 20.
  OperatorArrays in = quarter();
  in.scene.varying_probe = true;
  in.make(Array::probe).values = {1, std::sqrt(3.0), 2i, 4};
  expect_near(outputs_of(reference, in)[Array::object_weight].values, {3, 1 + 20});
}

TEST(ObjectPreconditionerTest, APixelOfTheWindowLightsItsPixelOfTheObject) {
  OperatorArrays in = empty_arrays({.rows = 3, .cols = 2, .window = 2, .detector = 2}, {1});
  in.make(Array::positions).values = {1, 0};
  in.make(Array::probe).values = {1, 2i, 3, 4};
  EXPECT_EQ(outputs_of(reference, in)[Array::object_weight].values, (Values{0, 0, 1, 4, 9, 16}));
}

TEST(ObjectPreconditionerTest, AllSlicesHaveOneWeight) {
  OperatorArrays in = quarter();
  in.scene.slices = 3;
  EXPECT_EQ(outputs_of(reference, in)[Array::object_weight].values, (Values{9, 3 + 12}));
}

TEST(ObjectPreconditionerTest, TheErrorOfTheProbeIsSquaredWithIt) {
  // The first mode may be 2.5, and the second is exact. The first window gives 3/4 of its light.
  OperatorArrays in = quarter();
  in[Array::probe].errors = {0.5, 0};
  expect_bound(outputs_of(reference, in)[Array::object_weight].errors[0],
               0.75 * (2.5 * 2.5 - 2 * 2));
}

}  // namespace
}  // namespace rankcheck::reference::object_preconditioner
