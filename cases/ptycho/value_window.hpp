#pragma once

#include "cases/ptycho/comparisons.hpp"

namespace rankcheck::cases {

/// Puts the values around a wrong value of an output into the judgement, for a picture of the
/// output.
void show_values(const OperatorStage& stage,
                 spec::Array array,
                 std::size_t wrong_index,
                 const ExpectedValues& expected,
                 harness::Judgement& judgement);

}  // namespace rankcheck::cases
