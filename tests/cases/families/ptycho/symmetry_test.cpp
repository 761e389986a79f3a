#include "cases/families/ptycho/symmetry.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "reference/spec/to_size.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/inputs.hpp"

namespace rankcheck::cases {
namespace {

using harness::Case;

using spec::Array;
using Complex = std::complex<double>;

/// Returns a case with an object of 3 x 4 pixels, a window of 2 in frames of 3, two modes and three
/// positions.
Case scene_case(Symmetry symmetry = Symmetry::plain) {
  Case c;
  c.operation = "gaussian_gradients";
  c.counts = {3};
  c.type = spec::Type::f64;
  ptycho(c).symmetry = symmetry;
  ptycho(c).scene =
      transformed_scene(symmetry, {.rows = 3, .cols = 4, .window = 2, .detector = 3, .modes = 2});
  return c;
}

spec::Scene scene_of(const Case& c) {
  return ptycho(c).scene;
}

/// Returns the values that a single rank gets for an array.
std::vector<Complex> input(const Case& c, Array array) {
  const bool is_complex = spec::info(array).is_complex;
  const std::int64_t copies = spec::is_per_position(ptycho(c).scene, array) ? 3 : 1;
  const std::int64_t count = copies * spec::components(ptycho(c).scene, array);
  std::vector<double> parts(spec::to_size(count));
  fill_array(c,
             {.offset = 0, .count = count, .array = array, .first = 0},
             reinterpret_cast<std::byte*>(parts.data()));
  std::vector<Complex> values;
  for (std::size_t i = 0; i < parts.size(); i += is_complex ? 2 : 1) {
    values.emplace_back(parts[i], is_complex ? parts[i + 1] : 0);
  }
  return values;
}

std::vector<Complex> input(Symmetry symmetry, Array array) {
  return input(scene_case(symmetry), array);
}

std::vector<Complex> plain_input(Array array) {
  return input(Symmetry::plain, array);
}

/// A value of a transformed array: `factor` times a value of the plain array.
struct Moved {
  Symmetry symmetry;
  Array array;
  std::size_t at;
  std::size_t from;
  Complex factor = 1;
  bool is_conjugated = false;
};

/// The windows of 2 begin at the frames' first pixel. A mode and a frame have nine pixels.
TEST(SymmetryTest, ValuesMoveAsTheirSymmetrySays) {
  const Complex i(0, 1);
  for (const Moved& each : std::vector<Moved>{
           // Stretching keeps the product of object and probe.
           {Symmetry::stretched, Array::object, 5, 5, 2},
           {Symmetry::stretched, Array::probe, 5, 5, 0.5},
           {Symmetry::twin, Array::object, 0, 11, 1, true},
           {Symmetry::twin, Array::object, 6, 5, 1, true},
           {Symmetry::twin, Array::probe, 5, 6, 1, true},
           // Pixel (2, 1) of 4 x 3 is pixel (1, 2) of 3 x 4.
           {Symmetry::transposed, Array::object, 7, 6},
           {Symmetry::transposed, Array::frames, 9 + 1, 9 + 3},
           {Symmetry::transposed, Array::positions, 2, 3},
           // Exit waves follow object and probe.
           {Symmetry::turned, Array::exit_waves, 4, 4, i},
           {Symmetry::brightened, Array::exit_waves, 4, 4, 2},
           // Row 0, column 1 of the window comes from row 1, column 0. Outside the window, the last
           // row stays.
           {Symmetry::reflected, Array::exit_waves, 9 + 1, 9 + 3},
           {Symmetry::reflected, Array::exit_waves, 9 + 7, 9 + 6},
           {Symmetry::twin, Array::exit_waves, 9 + 1, 9 + 3, 1, true},
           {Symmetry::transposed, Array::exit_waves, 9 + 1, 9 + 3},
           {Symmetry::dark, Array::exit_waves, 17, 17},
           {Symmetry::dark, Array::exit_waves, 18, 18, 0},
           {Symmetry::dark, Array::exit_waves, 27, 18},
           // Translated objects begin with zeros.
           {Symmetry::translated, Array::object, 5, 5, 0},
           {Symmetry::translated, Array::object, 7, 7, 0},
           {Symmetry::translated, Array::object, 8, 0},
           {Symmetry::translated, Array::object, 23, 11},
           // Positions come backwards or twice, with their frames.
           {Symmetry::reversed, Array::frames, 2, 18 + 2},
           {Symmetry::repeated, Array::frames, 9 + 2, 2},
           {Symmetry::repeated, Array::positions, 5, 3},
           // At row 1, column 2, the object turns by five quarters. At row 1, column 1 of a window,
           // the probe turns by three quarters backwards.
           {Symmetry::ramped, Array::object, 6, 6, i},
           {Symmetry::ramped, Array::probe, 7, 7, i},
           {Symmetry::reflected, Array::object, 0, 11},
           {Symmetry::reflected, Array::probe, 5, 6},
           // Reflected frames keep their zero frequency. Row 1 comes from row 2.
           {Symmetry::reflected, Array::frames, 9, 9},
           {Symmetry::reflected, Array::frames, 9 + 3, 9 + 6},
           // Frames grow with the square of the probe.
           {Symmetry::brightened, Array::probe, 5, 5, 2},
           {Symmetry::brightened, Array::frames, 5, 5, 4},
           // Phases of a raster cancel under its windows: row 0, column 3, and row 2, column 2 of
           // the object; row 0, column 1 of a window.
           {Symmetry::periodic, Array::object, 3, 3, i},
           {Symmetry::periodic, Array::object, 10, 10},
           {Symmetry::periodic, Array::probe, 1, 1, -i}}) {
    const Complex plain = plain_input(each.array)[each.from];
    EXPECT_EQ(input(each.symmetry, each.array).at(each.at),
              each.factor * (each.is_conjugated ? std::conj(plain) : plain))
        << name(each.symmetry) << ' ' << spec::name(each.array) << ' ' << each.at;
  }
}

TEST(SymmetryTest, OtherArraysStayAsTheyAre) {
  for (const auto& [symmetry, array] : {std::pair{Symmetry::turned, Array::probe},
                                        {Symmetry::stretched, Array::exit_waves},
                                        {Symmetry::periodic, Array::exit_waves},
                                        {Symmetry::reversed, Array::object},
                                        {Symmetry::ramped, Array::frames},
                                        {Symmetry::brightened, Array::object},
                                        {Symmetry::unmasked, Array::frames}}) {
    EXPECT_EQ(input(symmetry, array), plain_input(array)) << name(symmetry);
  }
}

TEST(SymmetryTest, TurnedObjectsAreMultipliedByI) {
  const auto plain = plain_input(Array::object);
  const auto turned = input(Symmetry::turned, Array::object);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(turned[i], Complex(0, 1) * plain[i]);
}

TEST(SymmetryTest, ATwinsWindowIsAsFarFromTheOtherSide) {
  const auto plain = plain_input(Array::positions);
  const auto twin = input(Symmetry::twin, Array::positions);
  EXPECT_EQ(twin[2], 1.0 - plain[2]);
  EXPECT_EQ(twin[3], 2.0 - plain[3]);
  EXPECT_EQ(input(Symmetry::reflected, Array::positions), twin);
}

TEST(SymmetryTest, ScenesGrowAsTheirArrays) {
  EXPECT_EQ(scene_of(scene_case(Symmetry::transposed)).rows, 4);
  EXPECT_EQ(input(Symmetry::translated, Array::object).size(), 4U * 6U);
  EXPECT_EQ(input(Symmetry::translated, Array::positions)[1],
            plain_input(Array::positions)[1] + 2.0);
}

TEST(SymmetryTest, AMixtureKeepsTheInnerProductsOfTheModes) {
  Case c = scene_case();
  ptycho(c).varied = Array::probe;
  const auto plain = input(c, Array::probe);
  ptycho(c).symmetry = Symmetry::mixed;
  const auto mixed = input(c, Array::probe);
  // Elements 0 and 4 are the first pixel's two modes.
  EXPECT_EQ(std::norm(mixed[0]) + std::norm(mixed[4]), std::norm(plain[0]) + std::norm(plain[4]));
  const auto product = [](const std::vector<Complex>& modes) {
    return modes[0] * std::conj(modes[1]) + modes[4] * std::conj(modes[5]);
  };
  EXPECT_NEAR(std::abs(product(mixed) - product(plain)), 0, 1e-15);
  EXPECT_NE(mixed[0], plain[0]);
  const auto waves = plain_input(Array::exit_waves);
  EXPECT_EQ(input(Symmetry::mixed, Array::exit_waves)[0],
            Complex(0.5, 0.5) * waves[0] + Complex(0.5, -0.5) * waves[9]);
}

TEST(SymmetryTest, BilinearObjectsAreThePolynomial) {
  // Row 1, column 2.
  EXPECT_EQ(input(Symmetry::bilinear, Array::object)[6], Complex(1 + 2 + 6 + 2, -1));
}

TEST(SymmetryTest, ARasterLiesOnEveryOtherPixelInsideTheObject) {
  Case c = scene_case(Symmetry::raster);
  ptycho(c).scene = {.rows = 9, .cols = 8, .window = 3, .detector = 3};
  ptycho(c).scan = Scan::whole;
  for (const Complex& value : input(c, Array::positions)) {
    EXPECT_EQ(std::fmod(value.real(), 2), 0);
    EXPECT_TRUE(value.real() >= 0 && value.real() <= 6) << value;
  }
  EXPECT_EQ(input(c, Array::object)[5], plain_input(Array::object)[5]);
  EXPECT_EQ(input(Symmetry::periodic, Array::positions), input(Symmetry::raster, Array::positions));
}

TEST(SymmetryTest, AllPixelsMayBeMeasured) {
  for (const Complex& value : input(Symmetry::unmasked, Array::mask)) EXPECT_EQ(value, 1.0);
}

TEST(SymmetryTest, ADarkModeComesLast) {
  auto expected = plain_input(Array::probe);
  expected.resize(12);
  EXPECT_EQ(input(Symmetry::dark, Array::probe), expected);
  EXPECT_NE(why_invalid(Symmetry::dark, {.rows = 2, .cols = 2, .window = 2, .detector = 2}), "");
}

/// Returns the values that a single rank gets for an array in single precision.
std::vector<float> singles(Case c, Array array) {
  c.type = spec::Type::f32;
  std::vector<float> values;
  for (const Complex& value : input(c, array)) values.push_back(static_cast<float>(value.real()));
  return values;
}

TEST(SymmetryTest, GeneralValuesHaveAllBitsOfSinglePrecision) {
  int odd = 0;
  for (const Complex& value : plain_input(Array::object)) {
    EXPECT_GE(std::abs(value.real()), 1.0 / 16);
    EXPECT_LT(std::abs(value.real()), 1);
    // The value in units of the last place.
    const double bits = std::ldexp(std::abs(value.real()), 23 - std::ilogb(value.real()));
    EXPECT_EQ(std::fmod(bits, 1), 0);
    odd += std::fmod(bits, 2) == 1 ? 1 : 0;
  }
  EXPECT_GT(odd, 2);
}

TEST(SymmetryTest, SumsOfGeneralValuesDependOnTheirOrder) {
  const std::vector<float> values = singles(scene_case(), Array::object);
  int different = 0;
  for (std::size_t i = 0; i + 2 < values.size(); ++i) {
    const float left = values[i] + values[i + 1];
    const float right = values[i + 1] + values[i + 2];
    different += left + values[i + 2] != values[i] + right ? 1 : 0;
  }
  EXPECT_GT(different, 0);
}

TEST(SymmetryTest, ValuesThatOthersAreAddedToAreCoarse) {
  Case c = scene_case();
  ptycho(c).varied = Array::object;
  for (const Complex& value : input(c, Array::object)) {
    EXPECT_EQ(std::fmod(std::ldexp(value.real(), 20), 1), 0);
  }
  EXPECT_EQ(input(c, Array::probe), plain_input(Array::probe));
}

TEST(SymmetryTest, AddedInputsAreHalved) {
  Case c = scene_case();
  ptycho(c).varied = Array::object;
  const auto plain = input(c, Array::object);
  c.added_seed = 9;
  const auto whole = input(c, Array::object);
  ptycho(c).halvings = 3;
  EXPECT_EQ(input(c, Array::object)[4], plain[4] + (whole[4] - plain[4]) / 8.0);
}

TEST(SymmetryTest, ATranslatedObjectMustHaveHadAWindow) {
  EXPECT_EQ(why_invalid(Symmetry::translated, scene_of(scene_case(Symmetry::translated))), "");
  EXPECT_NE(why_invalid(Symmetry::translated, {.rows = 2, .cols = 4, .window = 2, .detector = 2}),
            "");
}

}  // namespace
}  // namespace rankcheck::cases
