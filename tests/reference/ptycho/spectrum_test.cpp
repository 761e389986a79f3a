#include "reference/ptycho/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gtest/gtest.h>

#include "reference/ptycho/references.hpp"

#include "tests/reference/ptycho/outputs.hpp"

namespace rankcheck::reference {
namespace {

using spec::Array;

TEST(FreeSpaceTest, WhereLittleIsLeftAlongTheBeamItsRootIsUncertain) {
  const spec::Scene scene{.wavelength = 4, .distance = 1};
  // The first wave is exactly the finest that travels, the second is constant.
  EXPECT_GT(free_space(scene, 4, 1, 0, 0x1p-53).error, 1e-9);
  EXPECT_LT(free_space(scene, 4, 0, 0, 0x1p-53).error, 1e-14);
}

/// Returns the largest change of a value relative to its bound.
double worst_ratio(const BoundedArray& plain, const BoundedArray& moved) {
  double ratio = 0;
  for (std::size_t i = 0; i < plain.values.size(); ++i) {
    ratio = std::max(ratio, std::abs(moved.values[i] - plain.values[i]) / plain.errors[i]);
  }
  return ratio;
}

TEST(FilterTest, ErrorsThatAreBroughtAlongStayInsideTheBounds) {
  // Plane waves are the worst errors: each adds up in one pixel of the spectrum. All are tried in
  // turn.
  constexpr int width = 6;
  for (int pixel = 0; pixel < width * width; ++pixel) {
    OperatorArrays in = frame_of(width, plane_wave(width, 1, 2));
    in.scene.wavelength = 0.75;
    in.scene.distance = 4.5;
    BoundedArray& waves = in[Array::waves];
    waves.errors.assign(waves.values.size(), 0.01);
    OperatorArrays out = in;
    propagate_fresnel::reference(in, out);
    OperatorArrays moved = in;
    const Values worst = plane_wave(width, pixel / width, pixel % width);
    for (std::size_t i = 0; i < worst.size(); ++i) {
      moved[Array::waves].values[i] += 0.01 * worst[i];
    }
    OperatorArrays moved_out = moved;
    propagate_fresnel::reference(moved, moved_out);
    EXPECT_LE(worst_ratio(out[Array::waves], moved_out[Array::waves]), 1) << pixel;
  }
}

TEST(FilterTest, TransformsThereAndBackDoNotMultiplyBoundsByAllPixels) {
  constexpr int width = 8;
  OperatorArrays in = frame_of(width, Values(std::size_t{width} * width, 1));
  in.scene.wavelength = in.scene.distance = 1;
  in[Array::waves].errors.assign(std::size_t{width} * width, 0.01);
  OperatorArrays out = in;
  propagate_fresnel::reference(in, out);
  // The vector of errors keeps its length, and all of it may lie in one pixel.
  EXPECT_GE(out[Array::waves].errors[0], 0.01 * width);
  EXPECT_LT(out[Array::waves].errors[0], 0.01 * width * 1.001);
}

}  // namespace
}  // namespace rankcheck::reference
