#pragma once

#include <cstddef>

#include "reference/spec/to_size.hpp"

#include "cases/audit/bug.hpp"
#include "cases/audit/intercepted_call.hpp"

/// Small mistakes in an implementation's inputs and in its sums over the ranks. Bugs in several
/// operators use them.
namespace rankcheck::cases::audit {

/// Whether the bug changes calls of operators.
[[nodiscard]] bool edits_calls(const Bug& bug);
/// Makes the call with the bug in it.
void run(const Bug& bug, InterceptedCall& intercepted);

/// Numbers of the collective sums that operators make, counted from 0 in the order of the calls.
/// GradientSums: gradients and preconditioners. StepSums: solver steps that keep the whole object
/// on every rank.
struct GradientSums {
  static constexpr int of_object = 0;
  static constexpr int of_probe = 1;
};
struct StepSums {
  static constexpr int of_object = 0;
  static constexpr int of_object_weight = 1;
  static constexpr int of_probe = 2;
  /// LSQML only: the powers of the changes that the directions make in the waves, then the step
  /// lengths.
  static constexpr int of_powers = 6;
  static constexpr int of_lengths = 7;
};

/// Leaves out one sum: in that sum, every rank keeps its own part.
template <int number>
void leave_out(const InterceptedCall&, CollectiveCall& call) {
  if (call.number == number) return call.keep();
  call.make();
}

/// Divide the result of a sum by the number of ranks, multiply it by the number of positions, or
/// sum it again.
void average(const InterceptedCall& intercepted, const CollectiveCall& call);
void add_for_every_position(const InterceptedCall& intercepted, const CollectiveCall& call);
void repeat(const InterceptedCall& intercepted, const CollectiveCall& call);

/// Replaces every value of an array by map(value).
template <auto map>
void each_value(const InterceptedCall&, Values& values, int) {
  for (auto& value : values) value = map(value);
}

/// Calls body(n, values) with each copy of an array. There is one copy per position, or a single
/// copy for all.
template <class Body>
void for_each_copy(const InterceptedCall& intercepted,
                   spec::Array array,
                   Values& values,
                   const Body& body) {
  const auto size = spec::to_size(spec::values(intercepted.call().scene, array));
  for (std::size_t n = 0; n < values.size() / size; ++n) body(n, values.data() + n * size);
}

/// Makes all copies of an input equal to the first copy.
template <spec::Array array>
void take_first_copy(const InterceptedCall& intercepted, Values& values, int) {
  const auto size = spec::to_size(spec::values(intercepted.call().scene, array));
  for (std::size_t i = size; i < values.size(); ++i) values[i] = values[i % size];
}

/// Gives every rank except rank 0 its input of the array as output.
template <spec::Array array>
void keep_on_other_ranks(const InterceptedCall& intercepted, Values& values, int rank) {
  if (rank > 0) values = intercepted.input(array, rank);
}

/// Swaps the rows and columns of positions.
void transpose(const InterceptedCall& intercepted, Values& values, int rank);

/// Makes all modes of each probe equal to its first mode.
void take_first_mode(const InterceptedCall& intercepted, Values& values, int rank);

/// Masks no pixel.
void unmask(const InterceptedCall& intercepted, Values& values, int rank);

}  // namespace rankcheck::cases::audit
