#pragma once

#include <cstddef>
#include <string_view>

#include "reference/ptycho/field.hpp"

#include "harness/operation.hpp"

/// What the properties of ptychography operators share.
namespace rankcheck::cases {

/// One stage of an operator: what went in, what must come out, what came out. Arrays of positions
/// are those of all ranks in order; of the others, `in` and `got` show rank 0's.
struct OperatorStage {
  const harness::Case& c;
  const spec::Contract& contract;
  reference::Setting in;
  /// With bounds; without any where the case is exact.
  reference::Setting expected;
  reference::Setting got;
};

/// Whether the case's arithmetic is exact in every order, so that no error is admitted.
[[nodiscard]] bool is_exact(const spec::Contract& contract, const harness::Case& c);

/// The reference of an operator that exists.
[[nodiscard]] reference::Operator reference_of(std::string_view operation);

/// Reads a stage back from the buffers and runs the reference on its inputs. What follows the run
/// says more of this run, and nothing of any other one.
[[nodiscard]] OperatorStage read_stage(const harness::Evidence& evidence,
                                       std::size_t stage,
                                       reference::Follow follow = reference::Follow::nothing);

/// Runs the reference again, on inputs that were changed.
void expect_again(OperatorStage& stage, reference::Follow follow);

/// Two stages whose results a law relates. Where both made the same choices, the bounds are those
/// of a step with these choices.
struct RelatedStages {
  OperatorStage first;
  OperatorStage second;
};

[[nodiscard]] RelatedStages read_related(const harness::Evidence& evidence,
                                         std::size_t first,
                                         std::size_t second);

}  // namespace rankcheck::cases
