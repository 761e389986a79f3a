#pragma once

#include <cstdint>
#include <vector>

#include "reference/ptycho/field.hpp"

#include "cases/reconstruct/dataset.hpp"

namespace rankcheck::cases::reconstruct {

/// The intensities that a dataset's object and probe give, by the references, frame by frame.
class ReferenceModel {
 public:
  explicit ReferenceModel(const Dataset& data);

  /// [detector, detector], zero frequency first; stands until the next call.
  const reference::Field& intensity(std::int64_t position);

 private:
  const Dataset& data_;
  reference::Setting setting_;
};

}  // namespace rankcheck::cases::reconstruct
