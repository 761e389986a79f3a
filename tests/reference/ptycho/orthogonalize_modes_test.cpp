#include <cmath>
#include <complex>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::orthogonalize_modes {
namespace {

// clang-tidy 14 does not see that literals use it.
// NOLINTNEXTLINE(misc-unused-using-decls)
using std::complex_literals::operator""i;

/// Orthogonalizes two modes of a window of 2 x 2 pixels.
OperatorArrays orthogonalized(const std::vector<std::complex<double>>& probe) {
  OperatorArrays in;
  in.scene = {.rows = 2, .cols = 2, .window = 2, .detector = 2, .modes = 2};
  in.make(spec::Array::probe).values = probe;
  OperatorArrays out = in;
  reference(in, out);
  return out;
}

TEST(OrthogonalizeModesTest, EqualModesBecomeOne) {
  // (1, i) twice: the sum's power is 4, and the difference has none.
  const OperatorArrays out = orthogonalized({1, 1i, 0, 0, 1, 1i, 0, 0});
  const auto& values = out[spec::Array::probe].values;
  EXPECT_NEAR(std::norm(values[0]), 2, 1e-15);
  EXPECT_NEAR(std::norm(values[1]), 2, 1e-15);
  EXPECT_NEAR(std::abs(values[1] / values[0] - 1i), 0, 1e-15);
  EXPECT_NEAR(std::abs(values[4]), 0, 1e-15);
}

TEST(OrthogonalizeModesTest, TheStrongerOfOrthogonalModesComesFirst) {
  const OperatorArrays out = orthogonalized({1, 0, 0, 0, 0, 2i, 0, 0});
  const auto& values = out[spec::Array::probe].values;
  EXPECT_EQ(values[1], 2i);
  EXPECT_EQ(values[4], 1.0);
}

TEST(OrthogonalizeModesTest, PowersAreTheEigenvaluesOfTheInnerProducts) {
  // The inner products are (2, 1; 1, 1). Their eigenvalues are (3 +- sqrt 5) / 2.
  const OperatorArrays out = orthogonalized({1, 1, 0, 0, 1, 0, 0, 0});
  const auto& values = out[spec::Array::probe].values;
  EXPECT_NEAR(std::norm(values[0]) + std::norm(values[1]), (3 + std::sqrt(5.0)) / 2, 1e-14);
  EXPECT_NEAR(std::norm(values[4]) + std::norm(values[5]), (3 - std::sqrt(5.0)) / 2, 1e-14);
}

}  // namespace
}  // namespace rankcheck::reference::orthogonalize_modes
