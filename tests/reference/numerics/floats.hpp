#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "reference/numerics/fold.hpp"
#include "reference/spec/to_size.hpp"

#include "tests/random.hpp"

/// Buffers of one element type, written and read as doubles.
namespace rankcheck::tests {

inline constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns the elements in memory, each value rounded to the type.
inline std::vector<std::byte> elements(spec::Type type, std::span<const double> values) {
  const spec::Type part = spec::component(type);
  const auto bytes = spec::to_size(spec::info(part).bytes);
  std::vector<std::byte> out(values.size() * bytes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    numerics::from_double(part, values[i], out.data() + i * bytes);
  }
  return out;
}

/// Returns the value rounded to the type.
inline double rounded(spec::Type type, double value) {
  std::array<std::byte, 8> element{};
  numerics::from_double(type, value, element.data());
  return numerics::to_double(type, element.data());
}

/// A fold of one element per rank (two values per rank for complex types).
struct SmallFold {
  numerics::Fold rule;
  std::vector<std::vector<double>> contributions;
  std::vector<double> scalars;

  [[nodiscard]] numerics::Expected expected() const {
    numerics::Fold full = rule;
    full.ranks = static_cast<int>(contributions.size());
    std::vector<std::vector<std::byte>> buffers;
    std::vector<const std::byte*> in;
    for (const auto& values : contributions) buffers.push_back(elements(rule.type, values));
    for (const auto& buffer : buffers) in.push_back(buffer.data());
    numerics::Expected out;
    numerics::fold(full, in, elements(rule.type, scalars), 1, out);
    return out;
  }

  [[nodiscard]] numerics::Comparison compared(std::vector<double> got) const {
    numerics::Fold full = rule;
    full.ranks = static_cast<int>(contributions.size());
    numerics::Comparison comparison;
    numerics::compare(full, expected(), elements(rule.type, got).data(), 1, comparison);
    return comparison;
  }

  /// Whether this result is right, for a real type.
  [[nodiscard]] bool accepts(double got) const { return compared({got}).wrong == 0; }
};

/// Returns a fold of one real number per rank.
inline SmallFold fold_of(numerics::Fold rule,
                         const std::vector<double>& contributions,
                         const std::vector<double>& scalars = {}) {
  SmallFold out{rule, {}, scalars};
  for (const double x : contributions) out.contributions.push_back({x});
  return out;
}

/// Expects that these results of a fold of one real number per rank are right and wrong.
inline void expect_fold(numerics::Fold rule,
                        const std::vector<double>& contributions,
                        const std::vector<double>& right,
                        const std::vector<double>& wrong,
                        const std::vector<double>& scalars = {}) {
  const SmallFold fold = fold_of(rule, contributions, scalars);
  SCOPED_TRACE(testing::PrintToString(contributions));
  for (const double each : right) EXPECT_TRUE(fold.accepts(each)) << each;
  for (const double each : wrong) EXPECT_FALSE(fold.accepts(each)) << each;
}

}  // namespace rankcheck::tests
