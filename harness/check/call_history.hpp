#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "harness/case/case.hpp"

namespace rankcheck::harness {

/// The last calls of a world of ranks since it was started, as far as they are kept.
class CallHistory {
 public:
  static constexpr std::size_t calls_max = earlier_max;

  void add(const Case& call) { calls_[added_++ % calls_max] = call; }
  void clear() { added_ = 0; }
  /// The calls in the order in which they were made.
  [[nodiscard]] std::vector<Case> calls() const {
    std::vector<Case> all;
    for (std::size_t k = added_ - std::min(added_, calls_max); k < added_; ++k) {
      all.push_back(calls_[k % calls_max]);
    }
    return all;
  }

 private:
  std::array<Case, calls_max> calls_;
  std::size_t added_ = 0;
};

}  // namespace rankcheck::harness
