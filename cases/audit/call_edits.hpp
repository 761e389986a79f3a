#pragma once

#include <cstddef>

#include "reference/spec/to_size.hpp"

#include "cases/audit/intercepted_call.hpp"

/// Small mistakes in an implementation's inputs and in its sums over the ranks. Bugs in several
/// operators use them.
namespace rankcheck::cases::audit {

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

/// Runs the operator without one sum: in that sum, every rank keeps its own part.
template <int number>
void leave_out(InterceptedCall& intercepted) {
  intercepted.devices().on_collective = [](const CollectiveCall& call) {
    if (call.number == number) return call.keep();
    call.make();
  };
  intercepted.run();
}

/// Runs the operator and calls change(call) after the sum with this number.
template <int number, class Change>
void change_sum(InterceptedCall& intercepted, const Change& change) {
  intercepted.devices().on_collective = [&](const CollectiveCall& call) {
    call.make();
    if (call.number == number) change(call);
  };
  intercepted.run();
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

/// Runs the operator with all copies of an input equal to the first copy.
template <spec::Array array>
void take_first_copy(InterceptedCall& intercepted) {
  intercepted.change_input(array, [&](Values& values, int) {
    const auto size = spec::to_size(spec::values(intercepted.call().scene, array));
    for (std::size_t i = size; i < values.size(); ++i) values[i] = values[i % size];
  });
  intercepted.run();
}

/// Runs the operator, then gives every rank except rank 0 its input of the array as output.
template <spec::Array array>
void keep_on_other_ranks(InterceptedCall& intercepted) {
  intercepted.run();
  intercepted.change_output(array, [&](Values& values, int rank) {
    if (rank > 0) values = intercepted.input(array, rank);
  });
}

/// Runs the operator with the positions' rows and columns swapped.
void run_transposed(InterceptedCall& intercepted);

/// Runs the operator with all modes of each probe equal to its first mode.
void run_with_first_mode(InterceptedCall& intercepted);

/// Runs the operator with no pixel masked.
void run_unmasked(InterceptedCall& intercepted);

}  // namespace rankcheck::cases::audit
