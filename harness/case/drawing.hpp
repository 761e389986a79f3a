#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/base/random_source.hpp"

namespace rankcheck::harness {

/// Features that a case may have beyond ranks, sizes and inputs. A batch of cases enables a random
/// part of them, with very different weights (swarm testing).
enum class Feature : std::uint8_t { group, in_place, offset, gap, chunk, empty, large, schedule };
inline constexpr std::size_t features = 8;

/// The probability of each feature, in 256ths.
using FeatureWeights = std::array<int, features>;

/// Some cases have up to this many elements in a block.
inline constexpr std::int64_t elements_max = 4096;

/// The draw of one case: a source of random numbers, and the conditions for the case. All functions
/// take random numbers from the source.
struct Drawing {
  RandomSource& random;
  /// The size of the case, 0 … 100.
  int size = 0;
  /// If above 0: the number of ranks; the group is the whole world.
  int ranks = 0;
  /// Whether the case must have data to compare.
  bool has_data = false;
  /// Allows up to elements_max elements whatever the weights say: some implementations take no
  /// small calls.
  bool large = false;
  /// The call class that the case is drawn for. Empty if there is none.
  std::string_view goal = {};
  FeatureWeights weights{};

  [[nodiscard]] bool enabled(Feature feature) const {
    return random.chance(weights[spec::to_size(feature)]);
  }
  /// The largest number of elements.
  [[nodiscard]] std::int64_t limit() const;
  /// A number of elements, often near a multiple of `parts` or of a power of two.
  [[nodiscard]] std::int64_t count(std::int64_t parts, std::int64_t limit) const;
  /// Numbers of elements for `values` parts: equal, increasing, sparse, with one empty or one huge
  /// part, or random. `parts` is the number of ranks, and `limit` the largest usual number.
  [[nodiscard]] std::vector<std::int64_t> counts(std::int64_t values,
                                                 std::int64_t parts,
                                                 std::int64_t limit) const;
  /// A number of unused elements between parts, often 0.
  [[nodiscard]] std::int64_t gap() const;
};

}  // namespace rankcheck::harness
