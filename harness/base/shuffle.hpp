#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "harness/base/random_source.hpp"

namespace rankcheck::harness {

/// Puts the values into a random order.
template <class Value>
void shuffle(RandomSource& random, std::vector<Value>& values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[spec::to_size(random.below(static_cast<std::int64_t>(i)))]);
  }
}

}  // namespace rankcheck::harness
