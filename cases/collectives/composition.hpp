#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/check/operation.hpp"

/// Properties that connect one collective with others. Both sides run on the same backend, with
/// exact inputs, and must leave the same bits.
namespace rankcheck::cases {

/// Returns a stage of another operation with the group and type of `c`, out of place. The case
/// names no algorithm, so the backend chooses one by the data seed.
[[nodiscard]] harness::Case stage_of(const harness::Case& c, std::string_view operation);

/// Returns the same stage with the result of the stage before as its input.
[[nodiscard]] harness::Case next_stage_of(const harness::Case& c, std::string_view operation);

/// Returns an uneven operation: the case's count cut into nearly equal parts, one for each rank.
[[nodiscard]] harness::Case in_parts(const harness::Case& c);

/// Compares the whole recv buffers of the first and the last stage on every rank that has both.
void expect_last_equals_first(const harness::Evidence& evidence, harness::Judgement& judgement);

/// Compares block b of each rank's recv buffer of the first stage with block 0 of stage b + 1.
/// `reason` says what a difference means.
void expect_stages_equal_blocks(const harness::Evidence& evidence,
                                std::string_view reason,
                                harness::Judgement& judgement);

/// Compares each rank's recv buffer of the last stage with its send buffer of the first stage, if
/// the rank has both.
void expect_last_returns_first(const harness::Evidence& evidence, harness::Judgement& judgement);

/// Changes a reduction's inputs so that only one result is correct, and says whether a case has
/// such inputs.
void adapt_exact(const spec::Contract& contract, harness::Case& c);
[[nodiscard]] bool applies_exact(const spec::Contract& contract, const harness::Case& c);

/// For properties that read the send buffers afterwards: makes the case out of place, and says
/// whether it is.
void adapt_out_of_place(const spec::Contract& contract, harness::Case& c);
[[nodiscard]] bool applies_out_of_place(const spec::Contract& contract, const harness::Case& c);

using Program = decltype(harness::Property::program);

/// A property: the first stage alone leaves the same result as the other stages, one after another.
[[nodiscard]] harness::Property composes(std::string_view name,
                                         std::string_view summary,
                                         Program program);

/// A property: the last stage returns the inputs of the first. The case is out of place.
[[nodiscard]] harness::Property returns(std::string_view name,
                                        std::string_view summary,
                                        Program program);

}  // namespace rankcheck::cases
