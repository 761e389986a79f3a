#pragma once

#include "cases/planted/attempt.hpp"

/// Small mistakes in what an implementation is given, for bugs in several operators.
namespace rankcheck::cases::planted {

/// Positions are (column, row).
void swap_rows_and_columns(Attempt& attempt);

/// All modes of a probe are its first one.
void take_first_mode(Attempt& attempt);

/// No pixel is masked.
void unmask(Attempt& attempt);

}  // namespace rankcheck::cases::planted
