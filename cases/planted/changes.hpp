#pragma once

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

/// Positions are (column, row).
void swap_rows_and_columns(Attempt& attempt);

/// All modes of a probe are its first one.
void take_first_mode(Attempt& attempt);

/// No pixel is masked.
void unmask(Attempt& attempt);

}  // namespace rankcheck::cases::planted
