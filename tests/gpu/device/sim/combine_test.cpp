#include "gpu/device/sim/combine.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "reference/numerics/fold.hpp"

#include "tests/reference/numerics/floats.hpp"

namespace rankcheck::gpu::sim {
namespace {

using spec::ReduceOp;
using spec::Type;

/// More than two blocks and a remainder, at an odd address.
constexpr std::int64_t count = 1100;
constexpr std::size_t misalignment = 1;

/// Returns elements that are small whole numbers, in both components of a complex type. Truth
/// values also need zeros. All combinations of four elements are exact in every type.
std::vector<std::byte> elements(Type type, ReduceOp op, int rank) {
  const int least = spec::is_logical(op) ? 0 : 1;
  std::vector<double> values(static_cast<std::size_t>(spec::is_complex(type) ? 2 * count : count));
  const auto r = static_cast<std::size_t>(rank);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>((i / (r + 1) + r) % 4) + least;
  }
  std::vector<std::byte> bytes = tests::elements(type, values);
  bytes.insert(bytes.begin(), misalignment, std::byte{});
  return bytes;
}

/// Expects the combination that the reference gives.
void check(Type type, ReduceOp op) {
  const numerics::Fold rule{.type = type, .op = op, .ranks = 4, .exact = true};
  const std::array in{
      elements(type, op, 0), elements(type, op, 1), elements(type, op, 2), elements(type, op, 3)};
  const std::vector<std::byte> scalars = tests::elements(type, std::vector<double>(4, 2));
  std::vector<Source> sources;
  std::vector<const std::byte*> contributions;
  for (const auto& bytes : in) {
    contributions.push_back(bytes.data() + misalignment);
    sources.push_back({.data = contributions.back(),
                       .scalar = op == ReduceOp::premul_sum ? scalars.data() : nullptr});
  }
  std::vector<std::byte> out(in[0].size());
  std::byte* const got = out.data() + misalignment;
  combine({type, op, got, sources, count, op == ReduceOp::avg ? 4 : 1});
  numerics::Expected expected;
  numerics::fold(rule, contributions, scalars, count, expected);
  numerics::Comparison comparison;
  numerics::compare(rule, expected, got, count, comparison);
  EXPECT_EQ(comparison.wrong, 0) << spec::name(type) << " " << spec::name(op);
  EXPECT_EQ(comparison.compared_bytes, count * spec::info(type).bytes);
}

TEST(CombineTest, ComputesEveryOpInEveryType) {
  for (const spec::TypeInfo& type : spec::type_table) {
    for (std::size_t each = 1; each < spec::reduce_op_names.size(); ++each) {
      const auto op = static_cast<ReduceOp>(each);
      if (spec::is_defined(op, type.type)) check(type.type, op);
    }
  }
}

/// Returns the combination of elements, one of each rank.
template <class T>
T combined(Type type, ReduceOp op, const std::vector<T>& ranks) {
  std::vector<Source> sources;
  for (const T& each : ranks)
    sources.push_back({.data = reinterpret_cast<const std::byte*>(&each)});
  T out{};
  combine({type, op, reinterpret_cast<std::byte*>(&out), sources, 1, 1});
  return out;
}

TEST(CombineTest, LocatesTheLowestIndexOfEqualValues) {
  using Pair = std::array<float, 2>;
  const std::vector<Pair> pairs{{2, 7}, {5, 9}, {5, 4}, {2, 3}, {5, 6}};
  EXPECT_EQ(combined(Type::complex64, ReduceOp::maxloc, pairs), (Pair{5, 4}));
  EXPECT_EQ(combined(Type::complex64, ReduceOp::minloc, pairs), (Pair{2, 3}));
  using Wide = std::array<double, 2>;
  const std::vector<Wide> zeros{{0.0, 8}, {-0.0, 1}, {0.0, 5}};
  EXPECT_EQ(combined(Type::complex128, ReduceOp::maxloc, zeros), (Wide{-0.0, 1}));
  EXPECT_EQ(combined(Type::complex128, ReduceOp::minloc, zeros), (Wide{-0.0, 1}));
}

TEST(CombineTest, ComposesMapsInTheOrderOfTheSources) {
  // x -> 2 x + 3, then x -> 5 x + 7: 10 x + 22. In the other order: 10 x + 38.
  const std::vector<std::int32_t> maps{(2 << 16) + 3, (5 << 16) + 7};
  EXPECT_EQ(combined(Type::int32, ReduceOp::compose, maps), (10 << 16) + 22);
  const std::vector<std::int64_t> wide{(std::int64_t{2} << 32) + 3, (std::int64_t{5} << 32) + 7};
  EXPECT_EQ(combined(Type::int64, ReduceOp::compose, wide), (std::int64_t{10} << 32) + 22);
}

TEST(CombineTest, MovesTypesThatAreNotReduced) {
  for (const Type type : {Type::f8e4m3, Type::complex128}) {
    const auto size = static_cast<std::size_t>(spec::info(type).bytes);
    std::vector<std::byte> in(3 * size + 1);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<std::byte>(i * 37 + 5);
    std::vector<std::byte> out(in.size());
    const Source source{.data = in.data()};
    combine({type, ReduceOp::none, out.data(), {&source, 1}, 3, 1});
    EXPECT_TRUE(std::equal(in.begin(), in.end() - 1, out.begin()));
    EXPECT_EQ(out.back(), std::byte{0});
  }
}

TEST(CombineTest, RoundsToTheTypeAfterEachStep) {
  // 2048 + 1 is a tie in f16 and rounds to 2048, both times. A sum in a wider type would give 2050.
  std::array<std::array<std::byte, 2>, 3> in{};
  const std::array<double, 3> values{2048, 1, 1};
  std::vector<Source> sources;
  for (std::size_t r = 0; r < 3; ++r) {
    numerics::from_double(Type::f16, values[r], in[r].data());
    sources.push_back({.data = in[r].data()});
  }
  std::array<std::byte, 2> out{};
  combine({Type::f16, ReduceOp::sum, out.data(), sources, 1, 1});
  EXPECT_EQ(numerics::to_double(Type::f16, out.data()), 2048);
}

TEST(CombineTest, AccumulatesIntoOneOfItsSources) {
  std::vector<float> total(2000, 1.0F);
  const std::vector<float> more(2000, 2.0F);
  const std::array<Source, 2> sources{
      Source{.data = reinterpret_cast<const std::byte*>(more.data())},
      Source{.data = reinterpret_cast<const std::byte*>(total.data())}};
  combine({Type::f32, ReduceOp::sum, reinterpret_cast<std::byte*>(total.data()), sources, 2000, 1});
  EXPECT_EQ(total, std::vector<float>(2000, 3.0F));
}

}  // namespace
}  // namespace rankcheck::gpu::sim
