#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::pad {
namespace {

using spec::Array;

/// Two positions with windows of 2 x 2 pixels.
OperatorArrays windows_in_frames_of(int detector) {
  OperatorArrays in =
      empty_arrays({.rows = 2, .cols = 2, .window = 2, .detector = detector}, {0, 2});
  in.make(Array::windows).values = {1, 2i, 3, 4, 5, 6, 7, 8};
  return in;
}

TEST(PadTest, PutsWindowsBehindTheMarginAndZerosAroundThem) {
  // The margin is (5 - 2) / 2 = 1, rounded down.
  const OperatorArrays out = outputs_of(reference, windows_in_frames_of(5));
  EXPECT_EQ(out[Array::patches].values,
            (Values{0, 0, 0, 0, 0, 0, 1, 2i, 0, 0, 0, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
                    0, 0, 0, 0, 0, 0, 5, 6,  0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(PadTest, WindowsAsWideAsTheFrameStayAsTheyAre) {
  const OperatorArrays out = outputs_of(reference, windows_in_frames_of(2));
  EXPECT_EQ(out[Array::patches].values, (Values{1, 2i, 3, 4, 5, 6, 7, 8}));
}

TEST(PadTest, PixelsKeepTheirErrors) {
  OperatorArrays in = empty_arrays({.rows = 1, .cols = 1, .window = 1, .detector = 2}, {1});
  in.make(Array::windows).errors = {0.5};
  EXPECT_EQ(outputs_of(reference, in)[Array::patches].errors, (std::vector<double>{0.5, 0, 0, 0}));
}

}  // namespace
}  // namespace rankcheck::reference::pad
