#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/operation.hpp"

#include "cases/families/ptycho/case.hpp"

namespace rankcheck::cases {

/// Plans one run of the case itself.
void plan_once(const spec::Contract& contract,
               const harness::Case& c,
               std::vector<harness::Case>& stages);

/// The name of an operation as a template argument.
template <std::size_t size>
struct OperationName {
  constexpr OperationName(const char (&name)[size]) { std::copy_n(name, size, text.begin()); }

  [[nodiscard]] std::string str() const { return text.data(); }

  std::array<char, size> text{};
};

/// Plans runs of other operations with the case's inputs, then of the case itself.
void plan_behind(std::span<const std::string_view> others,
                 const harness::Case& c,
                 std::vector<harness::Case>& stages);

/// Plans two runs: the case, then another operation with the case's inputs.
template <OperationName other>
void plan_then(const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
  stages.assign(2, c);
  stages[1].operation = other.str();
  stages[1].algorithm.clear();
}

/// plan_then(), but the other operation takes the result of the first one.
template <OperationName other>
void plan_then_on_result(const spec::Contract& contract,
                         const harness::Case& c,
                         std::vector<harness::Case>& stages) {
  plan_then<other>(contract, c, stages);
  ptycho(stages[1]).chained = true;
}

/// Every output of every rank agrees with the reference, within the bound that follows from the
/// precision.
[[nodiscard]] harness::Property operator_agrees_with_reference();

/// Like operator_agrees_with_reference(), but the frames are the modelled intensities. The cost and
/// its gradient are then only rounding errors.
[[nodiscard]] harness::Property agrees_at_the_truth();

/// F(s a + b) = s F(a) + F(b) for every input array in which the operator is linear, with the other
/// arrays fixed. The seed of the data chooses the array and s. Exact inputs must agree in every
/// bit.
[[nodiscard]] harness::Property is_linear_in_each_array();

/// <F x, y> = <x, F* y> for this operator F, an array x in which it is linear, and its adjoint. The
/// adjoint is an operation whose inputs are y, the output of F, and all other inputs of F.
[[nodiscard]] harness::Property has_adjoint(std::string_view name,
                                            std::string_view summary,
                                            void (*program)(const spec::Contract& contract,
                                                            const harness::Case& c,
                                                            std::vector<harness::Case>& stages));

/// Another operation undoes this operator F: it returns the input of F. `program` plans the two
/// stages; the second one takes the result of the first one.
[[nodiscard]] harness::Property is_undone(std::string_view name,
                                          std::string_view summary,
                                          void (*program)(const spec::Contract& contract,
                                                          const harness::Case& c,
                                                          std::vector<harness::Case>& stages));

/// Parseval: every frame of the output has the energy of the same frame of the input.
[[nodiscard]] harness::Property conserves_energy();
/// No frame of the output has more energy than the same frame of the input.
[[nodiscard]] harness::Property gains_no_energy();

/// The result does not depend on how the positions are distributed over the ranks.
[[nodiscard]] harness::Property is_independent_of_partition();

/// Merging two ranks' positions into one rank does not change the result, so the result does not
/// depend on the number of ranks.
[[nodiscard]] harness::Property is_independent_of_refinement();

/// NaN, infinities and huge numbers in unmeasured pixels do not change any bit of the result.
[[nodiscard]] harness::Property ignores_unmeasured_pixels();

}  // namespace rankcheck::cases
