#pragma once

#include "harness/check/operation.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

namespace rankcheck::cases {

/// Whether the bits of a reduction do not depend on the order of evaluation. Nothing is rounded
/// then, and there is no choice among several NaN payloads.
inline bool has_one_result(const harness::Case& c) {
  const bool is_special =
      c.input == harness::InputKind::special || c.input == harness::InputKind::each_special;
  const bool may_be_nan = is_special && !spec::is_integer(c.type);
  return collective(c).op == spec::ReduceOp::none || (is_exact(c) && !may_be_nan);
}

/// Changes the inputs for properties that compare bits. Every order of evaluation must give the
/// same bits then.
inline void use_exact_inputs(harness::Case& c) {
  if (!has_one_result(c)) c.input = harness::InputKind::exact;
}

}  // namespace rankcheck::cases
