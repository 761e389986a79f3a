#pragma once

#include <cstdint>
#include <span>

#include "cases/reconstruct/dataset.hpp"

namespace rankcheck::cases::reconstruct {

/// Distinguishes one scan's measurement from another. It is the sum modulo 2^64 of the mask's hash
/// and a hash of each frame with its position in the scan. So the frames may come in any order.
class Fingerprint {
 public:
  void add_mask(std::span<const float> mask);
  void add_frame(std::int64_t position, std::span<const float> frame);
  [[nodiscard]] std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

/// Returns the fingerprint of the mask and all frames of a dataset.
[[nodiscard]] std::uint64_t fingerprint(const Dataset& data);

}  // namespace rankcheck::cases::reconstruct
