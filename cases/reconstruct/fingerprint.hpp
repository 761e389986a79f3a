#pragma once

#include <cstdint>
#include <span>

#include "cases/reconstruct/dataset.hpp"

namespace rankcheck::cases::reconstruct {

/// What tells one scan's measurement from another's: a hash of each frame and its position in the
/// scan, added up modulo 2^64 so that the frames may come in any order, and of the mask.
class Fingerprint {
 public:
  void add_mask(std::span<const float> mask);
  void add_frame(std::int64_t position, std::span<const float> frame);
  [[nodiscard]] std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

/// That of all frames of a dataset.
[[nodiscard]] std::uint64_t fingerprint(const Dataset& data);

}  // namespace rankcheck::cases::reconstruct
