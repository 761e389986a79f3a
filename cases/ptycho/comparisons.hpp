#pragma once

#include <complex>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "harness/check/operation.hpp"

#include "cases/ptycho/stage.hpp"

/// How properties compare what operators leave with what the properties expect.
namespace rankcheck::cases {

/// The value that a property expects, with a bound on the error. A bound that is not finite makes
/// the comparison powerless.
struct ExpectedValue {
  std::complex<double> value;
  double bound;
  /// The place of a wrong value of another stage that the expected value is made of. Empty if there
  /// is none.
  std::string wrong_source = {};
};

/// Returns what a property expects of a value; nothing if the property does not determine it.
using ExpectedValues =
    std::function<std::optional<ExpectedValue>(spec::Array array, std::size_t index)>;

/// Describes the place of a value in an array: "value 3 of object".
[[nodiscard]] std::string place_of(const OperatorStage& stage,
                                   spec::Array array,
                                   std::size_t index);

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

/// The inner product of what a stage left in an array with exact values, and the bound of its
/// error. Takes one of several equal parts of both, such as a slice of an object.
[[nodiscard]] ExpectedValue inner_product_of(const OperatorStage& stage,
                                             spec::Array array,
                                             const reference::BoundedArray& exact,
                                             std::size_t part = 0,
                                             std::size_t parts = 1);

/// A number that a property computes from outputs, with its name.
struct Named {
  std::string_view name;
  std::complex<double> value;
};

/// Judges whether two numbers are equal. All values of the stage's first output went into them. If
/// they differ, lists the outputs of the stage that differ from the reference.
void compare_numbers(const OperatorStage& stage,
                     const Named& left,
                     const Named& right,
                     double bound,
                     harness::Judgement& judgement);

/// An upper limit for a number of a property.
struct UpperLimit {
  double limit = 0;
  /// How far rounding errors may lead beyond the limit.
  double bound = 0;
  /// How large the number is if the property does not hold: the scale of `bound`.
  double scale = 0;
};

/// Judges a real number against its limit, as compare_numbers() judges two numbers.
void compare_with_limit(const OperatorStage& stage,
                        const Named& number,
                        const UpperLimit& most,
                        harness::Judgement& judgement);

}  // namespace rankcheck::cases
