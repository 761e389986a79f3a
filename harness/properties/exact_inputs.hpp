#pragma once

#include "harness/input.hpp"
#include "harness/operation.hpp"

namespace rankcheck::harness {

/// For properties that hold bit by bit only where no order of evaluation rounds.
inline void use_exact_inputs(Case& c) {
  if (!is_exact(c)) c.input = InputKind::exact;
}

}  // namespace rankcheck::harness
