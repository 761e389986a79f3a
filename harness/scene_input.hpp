#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/spec/contract.hpp"

#include "harness/case.hpp"

/// Inputs of operators of a scene. They depend on the array, the position and the component, never
/// on the rank: however the positions are shared out, the problem is the same. All are numbers that
/// single precision holds exactly. harness/INPUTS.md documents the rules.
namespace rankcheck::harness {

/// Writes the components of a block of the send buffer.
void fill_array(const Case& c, const spec::Block& block, std::byte* out);

/// Whether this kind of input has a meaning for an operator.
[[nodiscard]] bool is_defined(InputKind kind, const spec::Contract& contract);

}  // namespace rankcheck::harness
