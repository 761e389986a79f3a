#pragma once

#include "reference/ptycho/field.hpp"

/// What steps are made of that project waves, instead of going along gradients.
namespace rankcheck::reference {

/// numerator / weight, value by value; as before where the weight is 0. All modes share the weight.
[[nodiscard]] Field fitted(const Field& before,
                           const Field& numerator,
                           const Field& weight,
                           double unit);

/// The far waves with the measured amplitudes: 0 where nothing is modelled, as they are where
/// nothing is measured. Needs far_waves, frames and mask; makes far_waves and gaussian_cost's cost.
void project_on_frames(const Setting& in, Setting& out);

}  // namespace rankcheck::reference
