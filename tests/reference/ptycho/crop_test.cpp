#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference::crop {
namespace {

using spec::Array;

TEST(CropTest, TakesTheWindowsBehindTheMargin) {
  // The margin is (5 - 2) / 2 = 1, rounded down. The two frames count from 0 and from 25 on.
  OperatorArrays in = empty_arrays({.rows = 2, .cols = 2, .window = 2, .detector = 5}, {0, 2});
  in.make(Array::patches);
  for (int i = 0; i < 50; ++i)
    in[Array::patches].values[spec::to_size(i)] = {0, static_cast<double>(i)};
  EXPECT_EQ(outputs_of(reference, in)[Array::windows].values,
            (Values{6i, 7i, 11i, 12i, 31i, 32i, 36i, 37i}));
}

TEST(CropTest, WindowsAsWideAsTheFrameStayAsTheyAre) {
  OperatorArrays in = empty_arrays({.rows = 2, .cols = 2, .window = 2, .detector = 2}, {1});
  in.make(Array::patches).values = {1, 2i, 3, 4};
  EXPECT_EQ(outputs_of(reference, in)[Array::windows].values, (Values{1, 2i, 3, 4}));
}

TEST(CropTest, PixelsKeepTheirErrors) {
  OperatorArrays in = empty_arrays({.rows = 1, .cols = 1, .window = 1, .detector = 2}, {1});
  in.make(Array::patches).errors = {0.5, 1, 2, 3};
  EXPECT_EQ(outputs_of(reference, in)[Array::windows].errors, std::vector<double>{0.5});
}

}  // namespace
}  // namespace rankcheck::reference::crop
