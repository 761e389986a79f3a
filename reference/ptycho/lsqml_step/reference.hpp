#pragma once

#include "reference/ptycho/field.hpp"

namespace rankcheck::reference::lsqml_step {

/// Where the contract's step leads, before its lengths are known: makes object_direction,
/// probe_direction, cost, and in waves what came back to the object, -chi of every mode.
void directions(const Setting& in, Setting& out);

/// Makes the outputs of the contract from its inputs.
void reference(const Setting& in, Setting& out);

}  // namespace rankcheck::reference::lsqml_step
