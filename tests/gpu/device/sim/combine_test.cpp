#include "gpu/device/sim/combine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

#include "reference/numerics/fold.hpp"

namespace rankcheck::gpu::sim {
namespace {

using spec::ReduceOp;
using spec::Type;

/// More than two blocks and a remainder, at an odd address.
constexpr std::int64_t count = 1100;
constexpr std::size_t misalignment = 1;

/// Returns elements that are small whole numbers, in both components of a complex type. Truth
/// values also need zeros.
std::vector<std::byte> elements(Type type, ReduceOp op, int rank) {
  const int least = spec::is_logical(op) ? 0 : 1;
  const Type component = spec::component(type);
  const auto size = static_cast<std::size_t>(spec::info(component).bytes);
  const std::int64_t components = spec::is_complex(type) ? 2 * count : count;
  std::vector<std::byte> bytes(misalignment + static_cast<std::size_t>(components) * size);
  for (std::int64_t i = 0; i < components; ++i) {
    numerics::from_double(component,
                          static_cast<double>((i * 7 + std::int64_t{rank} * 3) % 5 + least),
                          bytes.data() + misalignment + static_cast<std::size_t>(i) * size);
  }
  return bytes;
}

/// Returns the combination of three numbers bit by bit, or as truth values.
double expected_bits(ReduceOp op, const std::array<double, 3>& v) {
  const std::array<int, 3> n{
      static_cast<int>(v[0]), static_cast<int>(v[1]), static_cast<int>(v[2])};
  switch (op) {
    case ReduceOp::band:
      return n[0] & n[1] & n[2];
    case ReduceOp::bor:
      return n[0] | n[1] | n[2];
    case ReduceOp::bxor:
      return n[0] ^ n[1] ^ n[2];
    case ReduceOp::land:
      return n[0] * n[1] * n[2] == 0 ? 0 : 1;
    case ReduceOp::lor:
      return n[0] + n[1] + n[2] == 0 ? 0 : 1;
    default:
      return (n[0] == 0 ? 0 : 1) ^ (n[1] == 0 ? 0 : 1) ^ (n[2] == 0 ? 0 : 1);
  }
}

/// Returns the combination of three values, which are exact in every type.
double expected(ReduceOp op, const std::array<double, 3>& v) {
  switch (op) {
    case ReduceOp::prod:
      return v[0] * v[1] * v[2];
    case ReduceOp::min:
      return std::min({v[0], v[1], v[2]});
    case ReduceOp::max:
      return std::max({v[0], v[1], v[2]});
    case ReduceOp::premul_sum:
      return 2 * (v[0] + v[1] + v[2]);
    case ReduceOp::compose:
      // The factors are 0, so only the last map counts.
      return v[2];
    case ReduceOp::sum:
    case ReduceOp::avg:
      return v[0] + v[1] + v[2];
    default:
      return expected_bits(op, v);
  }
}

void check(Type type, ReduceOp op) {
  const Type component = spec::component(type);
  const auto size = static_cast<std::size_t>(spec::info(component).bytes);
  const std::array<std::vector<std::byte>, 3> in{
      elements(type, op, 0), elements(type, op, 1), elements(type, op, 2)};
  std::vector<std::byte> scalar(size);
  numerics::from_double(component, 2, scalar.data());
  std::vector<Source> sources;
  for (const auto& bytes : in) {
    sources.push_back({.data = bytes.data() + misalignment,
                       .scalar = op == ReduceOp::premul_sum ? scalar.data() : nullptr});
  }
  std::vector<std::byte> out(in[0].size());
  const int divisor = op == ReduceOp::avg ? 2 : 1;
  combine(type, op, out.data() + misalignment, sources, count, divisor);
  for (std::size_t at = misalignment; at < out.size(); at += size) {
    std::array<double, 3> values{};
    for (std::size_t r = 0; r < 3; ++r) values[r] = numerics::to_double(component, &in[r][at]);
    double want = expected(op, values) / divisor;
    if (spec::is_integer(type)) want = std::trunc(want);
    ASSERT_EQ(numerics::to_double(component, &out[at]), want)
        << spec::name(type) << " " << spec::name(op) << " at byte " << at;
  }
}

TEST(CombineTest, ComputesEveryOpInEveryType) {
  for (const spec::TypeInfo& type : spec::type_table) {
    for (std::size_t each = 1; each < spec::reduce_op_names.size(); ++each) {
      const auto op = static_cast<ReduceOp>(each);
      if (spec::is_defined(op, type.type) && !spec::is_located(op)) check(type.type, op);
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
  combine(type, op, reinterpret_cast<std::byte*>(&out), sources, 1, 1);
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
    combine(type, ReduceOp::none, out.data(), {&source, 1}, 3, 1);
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
  combine(Type::f16, ReduceOp::sum, out.data(), sources, 1, 1);
  EXPECT_EQ(numerics::to_double(Type::f16, out.data()), 2048);
}

TEST(CombineTest, AccumulatesIntoOneOfItsSources) {
  std::vector<float> total(2000, 1.0F);
  const std::vector<float> more(2000, 2.0F);
  const std::array<Source, 2> sources{
      Source{.data = reinterpret_cast<const std::byte*>(more.data())},
      Source{.data = reinterpret_cast<const std::byte*>(total.data())}};
  combine(Type::f32, ReduceOp::sum, reinterpret_cast<std::byte*>(total.data()), sources, 2000, 1);
  EXPECT_EQ(total, std::vector<float>(2000, 3.0F));
}

}  // namespace
}  // namespace rankcheck::gpu::sim
