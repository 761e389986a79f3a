#pragma once

#include <span>

#include "harness/worker/process.hpp"

namespace rankcheck::cases {

/// Starts a process for each command and waits until all have ended. If one fails, prints its last
/// words to the error output and ends the others. Returns an exit status: 0 if all succeeded.
/// Throws std::runtime_error if a process cannot be started.
[[nodiscard]] int run_processes(std::span<const harness::worker::Command> commands);

}  // namespace rankcheck::cases
