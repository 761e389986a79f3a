#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/lit_row.hpp"
#include "tests/reference/ptycho/lit_window.hpp"
#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::illuminate {
namespace {

using spec::Array;

TEST(IlluminateTest, EveryModeIsMultipliedWithTheWindow) {
  OperatorArrays in = lit_row();
  in[Array::probe].values = {2, 1i};
  const OperatorArrays out = outputs_of(reference, in);
  Values expected(4 * frame_size);
  expected[frame_middle] = 6.0 + 4i;
  expected[frame_size + frame_middle] = -2.0 + 3i;
  expected[2 * frame_size + frame_middle] = 8;
  expected[3 * frame_size + frame_middle] = 4i;
  EXPECT_EQ(out[Array::waves].values, expected);
}

TEST(IlluminateTest, AVaryingProbeIsEachPositionsOwn) {
  OperatorArrays in = lit_row(true);
  in[Array::probe].values = {1, 2, 3, 4};
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::waves].values[frame_size + frame_middle], 2.0 * (3.0 + 2i));
  EXPECT_EQ(out[Array::waves].values[2 * frame_size + frame_middle], 12.0);
}

TEST(IlluminateTest, NothingIsLitAroundTheWindowAndNothingIsWrongThere) {
  OperatorArrays in = lit_row();
  in[Array::probe].values = {2, 1i};
  const OperatorArrays out = outputs_of(reference, in);
  EXPECT_EQ(out[Array::waves].errors[0], 0);
  EXPECT_GT(out[Array::waves].errors[frame_middle], 0);
}

TEST(IlluminateTest, EachPixelOfTheWindowMeetsItsPixelOfTheProbe) {
  // The patch is 11, 15, 15 + i and 20.
  EXPECT_EQ(outputs_of(reference, lit_window())[Array::waves].values,
            (Values{11, 30, -1.0 + 15i, -20}));
}

}  // namespace
}  // namespace rankcheck::reference::illuminate
