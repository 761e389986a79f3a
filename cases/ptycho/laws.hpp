#pragma once

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/operation.hpp"

#include "cases/families/ptycho/case.hpp"
#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

/// The value that a law expects, with a bound on the error. A bound that is not finite makes the
/// comparison powerless.
struct ExpectedValue {
  std::complex<double> value;
  double bound;
};

/// Returns what a law expects of a value; nothing if the law does not determine it.
using ExpectedValues =
    std::function<std::optional<ExpectedValue>(spec::Array array, std::size_t index)>;

/// Judges every output of a stage and the power of the comparison. `what` is the reason that is
/// reported for wrong values. If outputs should be nearly 0, `wrong` has the outputs of a typical
/// mistake, which give the scale.
void compare_outputs(const OperatorStage& stage,
                     std::string_view what,
                     harness::Judgement& judgement,
                     const ExpectedValues& expected,
                     const reference::OperatorArrays* wrong = nullptr);

/// Returns the sum of a's values times the conjugates of b's values.
[[nodiscard]] std::complex<double> inner_product(const reference::BoundedArray& a,
                                                 const reference::BoundedArray& b);

/// Bounds the error of the inner product of `uncertain` with `exact`, from the errors of
/// `uncertain` and the rounding in double precision.
[[nodiscard]] double inner_product_bound(const reference::BoundedArray& uncertain,
                                         const reference::BoundedArray& exact);

/// A number that a law computes from outputs, with its name.
struct Named {
  std::string_view name;
  std::complex<double> value;
};

/// Judges whether two numbers are equal. All values of the stage's first output went into them.
void compare_numbers(const OperatorStage& stage,
                     const Named& left,
                     const Named& right,
                     double bound,
                     harness::Judgement& judgement);

/// An upper limit for a number of a law.
struct UpperLimit {
  double limit = 0;
  /// How far rounding errors may lead beyond the limit.
  double bound = 0;
  /// How large the number is if the law does not hold: the scale of `bound`.
  double scale = 0;
};

/// Judges a real number against its limit. All values of the stage's first output went into it.
void compare_with_limit(const OperatorStage& stage,
                        const Named& number,
                        const UpperLimit& most,
                        harness::Judgement& judgement);

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
