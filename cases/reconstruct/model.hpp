#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "reference/ptycho/bounded_array.hpp"

#include "cases/reconstruct/dataset.hpp"

/// The probe and its modes, and the intensities that they give.
namespace rankcheck::cases::reconstruct {

/// One mode of a probe, row-major.
using Mode = std::vector<std::complex<double>>;

[[nodiscard]] double power(const Mode& mode);

/// Adds a mode of this power. It is the first mode times low powers of row and column, made
/// orthogonal to all modes before. If those already span it, the mode is all zeros.
void add_mode(std::vector<Mode>& modes, int width, double power);

/// Returns the probe with `modes` modes. If the data have fewer, modes are added: the first mode
/// times low powers of row and column, orthogonal to all modes before. The k-th added mode has
/// 1/(10k) of the first mode's power.
[[nodiscard]] std::vector<std::complex<float>> with_modes(const Dataset& data, int modes);

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
