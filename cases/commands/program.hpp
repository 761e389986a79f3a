#pragma once

namespace rankcheck::cases {

/// Parses the command line of rankcheck and runs its command. Prints each error as one line to
/// stderr. Returns the exit status.
[[nodiscard]] int run_program(int argc, char** argv);

}  // namespace rankcheck::cases
