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

#include "cases/ptycho/stage.hpp"

namespace rankcheck::cases {

/// What a law wants of one value; a bound that is not finite says nothing, and so lacks power.
struct Wanted {
  std::complex<double> value;
  double bound;
};

/// What a law wants of each value; nothing, where it has no opinion.
using Wants = std::function<std::optional<Wanted>(spec::Array array, std::size_t index)>;

/// Judges every output of a stage, and its power; `what` is said where one is wrong. Where outputs
/// should be nearly nothing, `wrong` are those of a typical mistake, which give their scale.
void compare_outputs(const OperatorStage& stage,
                     std::string_view what,
                     harness::Judgement& judgement,
                     const Wants& wanted,
                     const reference::Setting* wrong = nullptr);

/// The sum of the products of a's values with b's conjugated ones.
[[nodiscard]] std::complex<double> inner_product(const reference::Field& a,
                                                 const reference::Field& b);

/// A bound on what the errors of `uncertain` and the roundings of double precision do to its inner
/// product with `exact`.
[[nodiscard]] double inner_product_bound(const reference::Field& uncertain,
                                         const reference::Field& exact);

/// A number that a law makes of outputs, and what it is.
struct Named {
  std::string_view name;
  std::complex<double> value;
};

/// Judges two numbers that all of a stage's first output went into.
void compare_numbers(const OperatorStage& stage,
                     const Named& left,
                     const Named& right,
                     double bound,
                     harness::Judgement& judgement);

/// The most that a number of a law may be.
struct UpperLimit {
  double limit = 0;
  /// How far beyond the limit roundings may lead.
  double bound = 0;
  /// How large the number would be if the law did not hold: the scale of `bound`.
  double scale = 0;
};

/// Judges a real number that all of a stage's first output went into.
void compare_with_limit(const OperatorStage& stage,
                        const Named& number,
                        const UpperLimit& most,
                        harness::Judgement& judgement);

/// The program of one run, of the case as it is.
void plan_once(const spec::Contract& contract,
               const harness::Case& c,
               std::vector<harness::Case>& stages);

/// The name of an operation, as an argument of a template.
template <std::size_t size>
struct OperationName {
  constexpr OperationName(const char (&name)[size]) { std::copy_n(name, size, text.begin()); }

  [[nodiscard]] std::string str() const { return text.data(); }

  std::array<char, size> text{};
};

/// The program of runs of other operations with the case's inputs, then of the case itself.
void plan_behind(std::span<const std::string_view> others,
                 const harness::Case& c,
                 std::vector<harness::Case>& stages);

/// The program of two runs: of the case, then of another operation with the case's inputs.
template <OperationName other>
void plan_then(const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
  stages.assign(2, c);
  stages[1].operation = other.str();
  stages[1].algorithm.clear();
}

/// plan_then(), where the other operation takes what the first one gave.
template <OperationName other>
void plan_then_on_result(const spec::Contract& contract,
                         const harness::Case& c,
                         std::vector<harness::Case>& stages) {
  plan_then<other>(contract, c, stages);
  stages[1].chained = true;
}

/// Every output of every rank is the reference's, within the bound that follows from the precision.
[[nodiscard]] harness::Property operator_agrees_with_reference();

/// As operator_agrees_with_reference, where the frames are the intensities of the very waves: the
/// cost and its gradient then are what roundings leave.
[[nodiscard]] harness::Property agrees_at_the_truth();

/// F(s a + b) = s F(a) + F(b) for every input array in which the operator is linear, with the other
/// arrays the same; the case's data decide on the array and on s. Bit by bit on exact inputs.
[[nodiscard]] harness::Property is_linear_in_each_array();

/// <F x, y> = <x, F* y> for this operator F, the array x that it is linear in, and its adjoint, an
/// operation whose inputs are y, the output of F, and all others of F's inputs.
[[nodiscard]] harness::Property has_adjoint(std::string_view name,
                                            std::string_view summary,
                                            void (*program)(const spec::Contract& contract,
                                                            const harness::Case& c,
                                                            std::vector<harness::Case>& stages));

/// This operator F, then another one that undoes it, give back what went into F. `program` makes
/// the two stages, the second one chained.
[[nodiscard]] harness::Property is_undone(std::string_view name,
                                          std::string_view summary,
                                          void (*program)(const spec::Contract& contract,
                                                          const harness::Case& c,
                                                          std::vector<harness::Case>& stages));

/// Parseval: every frame of the output has the energy of the same frame of the input.
[[nodiscard]] harness::Property conserves_energy();
/// No frame of the output has more energy than the same frame of the input.
[[nodiscard]] harness::Property gains_no_energy();

/// The same problem, its positions shared out among the ranks in another way, has the same result.
[[nodiscard]] harness::Property is_independent_of_partition();

/// The same problem on a rank less, which another one's positions then are beside its own, has the
/// same result: it does not depend on how many ranks there are.
[[nodiscard]] harness::Property is_independent_of_refinement();

/// NaN, infinities and huge numbers in pixels that the mask leaves out change no bit.
[[nodiscard]] harness::Property ignores_unmeasured_pixels();

}  // namespace rankcheck::cases
