#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/illuminate/reference.hpp"
#include "reference/ptycho/illuminate_adjoint_object/reference.hpp"
#include "reference/ptycho/illuminate_adjoint_probe/reference.hpp"

#include "tests/reference/ptycho/pixel.hpp"

namespace rankcheck::reference {
namespace {

using spec::Array;
using Values = std::vector<std::complex<double>>;

/// A row of two pixels, a window of one in frames of three, and two modes. The first window lies a
/// quarter of a pixel to the right of the first pixel. The second window lies on the first pixel.
Setting setting(bool varying_probe = false) {
  Setting in;
  in.scene = {
      .rows = 1, .cols = 2, .window = 1, .detector = 3, .modes = 2, .varying_probe = varying_probe};
  in.positions = 2;
  in.unit = 0x1p-24;
  in.make(Array::positions).values = {0, 0.25, 0, 0};
  in.make(Array::object).values = {4, 8i};
  in.make(Array::probe);
  in.make(Array::waves);
  return in;
}

constexpr std::size_t middle = 4;
constexpr std::size_t frame = 9;

TEST(IlluminateTest, every_mode_is_multiplied_with_the_window) {
  Setting in = setting();
  in[Array::probe].values = {2, 1i};
  Setting out = in;
  illuminate::reference(in, out);
  Values expected(4 * frame);
  expected[middle] = 6.0 + 4i;
  expected[frame + middle] = -2.0 + 3i;
  expected[2 * frame + middle] = 8;
  expected[3 * frame + middle] = 4i;
  EXPECT_EQ(out[Array::waves].values, expected);
}

TEST(IlluminateTest, a_varying_probe_is_each_positions_own) {
  Setting in = setting(true);
  in[Array::probe].values = {1, 2, 3, 4};
  Setting out = in;
  illuminate::reference(in, out);
  EXPECT_EQ(out[Array::waves].values[frame + middle], 2.0 * (3.0 + 2i));
  EXPECT_EQ(out[Array::waves].values[2 * frame + middle], 12.0);
}

TEST(IlluminateTest, nothing_is_lit_around_the_window_and_nothing_is_wrong_there) {
  Setting in = setting();
  in[Array::probe].values = {2, 1i};
  Setting out = in;
  illuminate::reference(in, out);
  EXPECT_EQ(out[Array::waves].errors[0], 0);
  EXPECT_GT(out[Array::waves].errors[middle], 0);
}

TEST(IlluminateAdjointObjectTest, modes_come_back_with_the_conjugate_probe) {
  Setting in = setting();
  in[Array::probe].values = {2, 1i};
  in[Array::waves].values[middle] = 1;
  in[Array::waves].values[frame + middle] = 1;
  Setting out = in;
  illuminate_adjoint_object::reference(in, out);
  EXPECT_EQ(out[Array::object].values, (Values{0.75 * (2.0 - 1i), 0.25 * (2.0 - 1i)}));
}

TEST(IlluminateAdjointObjectTest, what_lies_around_the_window_is_dropped) {
  Setting in = setting();
  in[Array::probe].values = {2, 1i};
  in[Array::waves].values[0] = 1;
  Setting out = in;
  illuminate_adjoint_object::reference(in, out);
  EXPECT_EQ(out[Array::object].values, (Values{0, 0}));
}

TEST(IlluminateAdjointProbeTest, positions_are_summed_with_the_conjugate_window) {
  Setting in = setting();
  in[Array::waves].values[middle] = 1;
  in[Array::waves].values[2 * frame + middle] = 1i;
  Setting out = in;
  illuminate_adjoint_probe::reference(in, out);
  EXPECT_EQ(out[Array::probe].values, (Values{3.0 + 2i, 0}));
}

TEST(IlluminateAdjointProbeTest, positions_of_a_varying_probe_stay_apart) {
  Setting in = setting(true);
  in[Array::waves].values[middle] = 1;
  in[Array::waves].values[2 * frame + middle] = 1i;
  Setting out = in;
  illuminate_adjoint_probe::reference(in, out);
  EXPECT_EQ(out[Array::probe].values, (Values{3.0 - 2i, 0, 4i, 0}));
}

}  // namespace
}  // namespace rankcheck::reference
