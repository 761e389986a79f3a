#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/spec/operator.hpp"

#include "harness/case/case.hpp"

/// Inputs of operators. They depend on the array, the position and the component, never on the
/// rank: the problem is the same for any partition of the positions. Single precision holds them
/// exactly, except for kind fine and for added inputs that are halved. INPUTS.md beside this file
/// documents the rules.
namespace rankcheck::cases {

/// Writes the components of a block of the send buffer to `out`, which need not be aligned.
void fill_array(const harness::Case& c, const spec::Block& block, std::byte* out);

/// Whether this kind of input is defined for an operator.
[[nodiscard]] bool is_defined(harness::InputKind kind, const spec::Contract& contract);

}  // namespace rankcheck::cases
