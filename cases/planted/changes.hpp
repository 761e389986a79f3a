#pragma once

#include <cstddef>

#include "cases/planted/attempt.hpp"

/// Small mistakes in what an implementation is given, for bugs in several operators.
namespace rankcheck::cases::planted {

/// The numbers of the sums over the ranks that operators make: gradients and preconditioners, and
/// steps with the whole object on every rank.
struct GradientSums {
  static constexpr int of_object = 0;
  static constexpr int of_probe = 1;
};
struct StepSums {
  static constexpr int of_object = 0;
  static constexpr int of_object_weight = 1;
  static constexpr int of_probe = 2;
  /// Of LSQML: the powers of what the directions do to the waves, then the lengths.
  static constexpr int of_powers = 6;
  static constexpr int of_lengths = 7;
};

/// Runs with every rank keeping its own part of one sum.
template <int number>
void leave_out(Attempt& attempt) {
  attempt.devices().on_collective = [](const CollectiveCall& call) {
    if (call.number == number) return call.keep();
    call.make();
  };
  attempt.run();
}

/// Runs with one sum, when it is made, changed: change(call).
template <int number, class Change>
void change_sum(Attempt& attempt, const Change& change) {
  attempt.devices().on_collective = [&](const CollectiveCall& call) {
    call.make();
    if (call.number == number) change(call);
  };
  attempt.run();
}

/// Calls body(n, values) with each copy of an array: one for each position, or one for all.
template <class Body>
void for_each_copy(const Attempt& attempt, spec::Array array, Values& values, const Body& body) {
  const auto size = static_cast<std::size_t>(spec::values(attempt.call().scene, array));
  for (std::size_t n = 0; n < values.size() / size; ++n) body(n, values.data() + n * size);
}

/// Runs with all copies of an input being the first one.
template <spec::Array array>
void take_first_copy(Attempt& attempt) {
  attempt.change_input(array, [&](Values& values, int) {
    const auto size = static_cast<std::size_t>(spec::values(attempt.call().scene, array));
    for (std::size_t i = size; i < values.size(); ++i) values[i] = values[i % size];
  });
  attempt.run();
}

/// Runs, then every rank but the first has what it was given of an array.
template <spec::Array array>
void keep_on_other_ranks(Attempt& attempt) {
  attempt.run();
  attempt.change_output(array, [&](Values& values, int rank) {
    if (rank > 0) values = attempt.input(array, rank);
  });
}

/// Runs with positions of (column, row).
void run_transposed(Attempt& attempt);

/// Runs with all modes of a probe being its first one.
void run_with_first_mode(Attempt& attempt);

/// Runs with no pixel masked.
void run_unmasked(Attempt& attempt);

}  // namespace rankcheck::cases::planted
