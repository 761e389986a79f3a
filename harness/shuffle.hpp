#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "harness/random_source.hpp"

namespace rankcheck::harness {

/// Puts the values into a random order.
template <class Value>
void shuffle(RandomSource& random, std::vector<Value>& values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1],
              values[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(i)))]);
  }
}

}  // namespace rankcheck::harness
