#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/registry.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/families/ptycho/inputs.hpp"
#include "cases/ptycho/stage.hpp"
#include "tests/print.hpp"

/// Frames with as many photons as detectors count. The references must give useful bounds for them.
namespace rankcheck::cases {
namespace {

using harness::Case;
using reference::BoundedArray;
using reference::OperatorArrays;
using spec::Array;

/// An operator that reads measured frames. GoogleTest prints its name.
struct Counted {
  std::string_view name;
  spec::Contract contract;
  reference::Operator reference;

  friend void PrintTo(const Counted& subject, std::ostream* out) { *out << subject.name; }
};

std::vector<Counted> counted() {
  std::vector<Counted> all;
  for (const auto& each : reference::ptycho()) {
    if (!is_defined(harness::InputKind::wide_range, each.contract)) continue;
    all.push_back({each.contract.name, each.contract, each.reference});
  }
  return all;
}

/// Unit roundoff of the operator's precision plus the unit roundoff of double precision.
constexpr double of_single = 0x1p-24 + 0x1p-53;
constexpr double of_double = 0x1p-52;

/// Whether the operator compares costs: conjugate gradients choose the step length by comparing
/// costs.
bool compares_costs(const spec::Contract& contract) {
  return searches_along_directions(contract);
}

/// In single precision, steps that compare costs get tiny frames. Their last costs follow five
/// transforms. Each transform may concentrate a frame's errors in one pixel, which multiplies them
/// by the frame's width. With a width of 6, the bounds no longer tell which cost is lower.
Case case_of(const spec::Contract& contract, std::uint64_t seed, double unit) {
  Case c;
  c.type = spec::Type::f64;
  c.counts = {4};
  c.input = harness::InputKind::wide_range;
  c.data_seed = seed;
  ptycho(c).scene = {.rows = 8, .cols = 7, .window = 5, .detector = 6, .modes = 2};
  if (unit < of_single || !compares_costs(contract)) return c;
  c.counts = {3};
  ptycho(c).scene = {.rows = 3, .cols = 3, .window = 2, .detector = 2};
  return c;
}

/// Returns the inputs of all positions.
OperatorArrays drawn(const Case& c, const spec::Contract& contract, double unit) {
  OperatorArrays arrays;
  arrays.scene = ptycho(c).scene;
  arrays.positions = c.counts.front();
  arrays.counts = c.counts;
  arrays.unit = unit;
  for (const Array array : ptycho(contract).inputs) {
    BoundedArray& bounded = arrays.make(array);
    const std::size_t parts = spec::info(array).is_complex ? 2 : 1;
    std::vector<double> numbers(bounded.values.size() * parts);
    fill_array(c,
               {.count = std::ssize(numbers), .array = array},
               reinterpret_cast<std::byte*>(numbers.data()));
    for (std::size_t i = 0; i < bounded.values.size(); ++i) {
      bounded.values[i] = {numbers[parts * i], parts == 2 ? numbers[parts * i + 1] : 0};
    }
  }
  return arrays;
}

/// Turns the step into a first step. Drawn directions belong to other light and would cancel nearly
/// all of this light's direction.
void forget(OperatorArrays& in) {
  for (const Array array : {Array::object_direction, Array::probe_direction}) {
    for (auto& value : in[array].values) value = 0;
  }
}

/// Expects error bounds below a hundredth of the largest value, so that a wrong factor would show.
/// For conjugate gradients in single precision, this only shows that bounds exist in first steps
/// with frames of 2 x 2 pixels. For larger frames and later steps their references may give no
/// bounds; see case_of() and forget().
void expect_bounds(const Counted& subject, double unit) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    OperatorArrays in = drawn(case_of(subject.contract, seed, unit), subject.contract, unit);
    if (unit >= of_single) forget(in);
    OperatorArrays out = in;
    subject.reference(in, out);
    for (const Array array : ptycho(subject.contract).outputs) {
      const BoundedArray& bounded = out[array];
      double largest = 0;
      for (const auto& value : bounded.values) largest = std::max(largest, std::abs(value));
      for (const double error : bounded.errors) {
        ASSERT_LT(error, 0.01 * largest)
            << spec::name(array) << ", seed " << seed << ", unit " << unit;
      }
    }
  }
}

class CountsTest : public testing::TestWithParam<Counted> {};

TEST_P(CountsTest, HaveBoundsInBothPrecisions) {
  for (const double unit : {of_double, of_single}) expect_bounds(GetParam(), unit);
}

INSTANTIATE_TEST_SUITE_P(Operators, CountsTest, testing::ValuesIn(counted()), tests::printed_name);

TEST(PhotonsTest, ReachAMillionAndAreWhole) {
  const spec::Contract contract = counted().front().contract;
  const OperatorArrays in = drawn(case_of(contract, 1, of_double), contract, of_double);
  double counted = 0;
  double bright = 0;
  for (const auto& value : in[Array::frames].values) {
    const double photons = value.real();
    EXPECT_EQ(std::floor(photons), photons);
    EXPECT_LT(photons, 0x1p20);
    counted += photons > 0 ? 1 : 0;
    bright += photons >= 1e4 ? 1 : 0;
  }
  EXPECT_GT(counted, 100);
  EXPECT_GT(bright, counted / 3);
}

}  // namespace
}  // namespace rankcheck::cases
