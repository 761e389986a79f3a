#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/operation.hpp"

/// Laws that connect one collective with others: both sides run on the same backend, with exact
/// inputs, and must leave the same bits.
namespace rankcheck::cases {

/// A stage of another operation in the group and type of `c`, out of place. The backend draws its
/// algorithm from the data seed.
[[nodiscard]] harness::Case stage_of(const harness::Case& c, std::string_view operation);

/// The same, fed with what the stage before left.
[[nodiscard]] harness::Case next_stage_of(const harness::Case& c, std::string_view operation);

/// An uneven operation on the case's count, cut into nearly equal parts, one a rank.
[[nodiscard]] harness::Case in_parts(const harness::Case& c);

/// Compares the whole recv buffers of the first and the last stage on every rank that has one.
void expect_last_equals_first(const harness::Evidence& evidence, harness::Judgement& judgement);

/// Compares the recv buffers of the last stage with the send buffers of the first, on every rank
/// that has both.
void expect_last_returns_first(const harness::Evidence& evidence, harness::Judgement& judgement);

/// Bends a reduction to inputs that leave one result, and says whether a case has such.
void adapt_exact(const spec::Contract& contract, harness::Case& c);
[[nodiscard]] bool applies_exact(const spec::Contract& contract, const harness::Case& c);

/// For laws that look at the send buffers afterwards: the case is out of place.
void adapt_out_of_place(const spec::Contract& contract, harness::Case& c);
[[nodiscard]] bool applies_out_of_place(const spec::Contract& contract, const harness::Case& c);

using Program = void (*)(const spec::Contract&, const harness::Case&, std::vector<harness::Case>&);

/// A law: what the first stage leaves is what the others, one after another, leave.
[[nodiscard]] harness::Property composes(std::string_view name,
                                         std::string_view summary,
                                         Program program);

/// A law: the last stage brings back what the first was given; out of place.
[[nodiscard]] harness::Property returns(std::string_view name,
                                        std::string_view summary,
                                        Program program);

/// f(2a + b) = 2 f(a) + f(b), for sums.
[[nodiscard]] harness::Property is_linear();

/// A scatter followed by this gather returns the root's data; even or uneven, as the gather is.
[[nodiscard]] harness::Property inverts_scatter();

}  // namespace rankcheck::cases
