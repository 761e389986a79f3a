#pragma once

#include "harness/check/operation.hpp"

namespace rankcheck::cases {

/// Every output of every rank equals the reference's. The bits must agree if the inputs make every
/// order of operations exact. Otherwise the error must be within the a-priori bound.
[[nodiscard]] harness::Property agrees_with_reference();

/// The same for several calls of one shape (CollectiveCase::repeat), each with other data. Whatever
/// a backend keeps from a call for the next one must not include the data. A stale element is
/// described by the call that it belongs to.
[[nodiscard]] harness::Property repeats_with_other_data();

/// The same for three calls: of the case's group, of another group of the same size with another
/// root, and of the first group again. A backend may keep a communicator for the first group but
/// must not use it for the second.
[[nodiscard]] harness::Property keeps_groups_apart();

/// Judges the outputs of all stages as agrees_with_reference() does.
void expect_reference_in_every_stage(const harness::Evidence& evidence,
                                     harness::Judgement& judgement);

}  // namespace rankcheck::cases
