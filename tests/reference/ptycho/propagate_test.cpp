#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::propagate {
namespace {

using spec::Array;

TEST(PropagateTest, SumsWavesWithSignsAndHalvesThem) {
  // A frame of 2 x 2: F[k, l] is half of the sum of wave[p, q] (-1)^(k p + l q).
  OperatorArrays in = empty_arrays({.window = 2, .detector = 2}, {1});
  in.make(Array::waves).values = {1, 2i, 3, 4};
  EXPECT_EQ(outputs_of(reference, in)[Array::far_waves].values,
            (Values{4.0 + 1i, -1i, -3.0 + 1i, 1.0 - 1i}));
}

TEST(PropagateTest, APointBesideTheFirstTurnsBackwardsAlongTheRow) {
  // Pixel (0, 1) of 4 x 4 gives exp(-2 pi i l / 4) / 4 in each row.
  OperatorArrays in = empty_arrays({.window = 4, .detector = 4}, {1});
  in.make(Array::waves).values[1] = 4;
  expect_near(outputs_of(reference, in)[Array::far_waves].values,
              {1, -1i, -1, 1i, 1, -1i, -1, 1i, 1, -1i, -1, 1i, 1, -1i, -1, 1i});
}

TEST(PropagateTest, EveryModeOfEveryPositionIsTransformed) {
  OperatorArrays in = empty_arrays({.window = 2, .detector = 2, .modes = 2}, {1, 1});
  in.make(Array::waves);
  for (std::size_t frame = 0; frame < 4; ++frame) {
    in[Array::waves].values[4 * frame] = static_cast<double>(2 * frame);
  }
  EXPECT_EQ(outputs_of(reference, in)[Array::far_waves].values,
            (Values{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3}));
}

}  // namespace
}  // namespace rankcheck::reference::propagate
