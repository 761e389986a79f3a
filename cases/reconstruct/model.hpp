#pragma once

#include <cstdint>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"

#include "cases/reconstruct/dataset.hpp"

namespace rankcheck::cases::reconstruct {

/// Computes the intensities that a dataset's object and probe give, with the references, frame by
/// frame.
class ReferenceModel {
 public:
  explicit ReferenceModel(const Dataset& data);

  /// Returns [detector, detector], zero frequency first. The result is valid until the next call.
  const reference::BoundedArray& intensity(std::int64_t position);

 private:
  const Dataset& data_;
  reference::OperatorArrays arrays_;
};

}  // namespace rankcheck::cases::reconstruct
