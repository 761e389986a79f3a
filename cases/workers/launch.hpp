#pragma once

#include <span>

#include "harness/worker/process.hpp"

namespace rankcheck::cases {

/// Starts a process for each command and waits until all have ended. Where one fails, its last
/// words go to the error output and the others are ended. Returns an exit status: 0 where all
/// ended well. Throws std::runtime_error where one cannot be started.
[[nodiscard]] int run_processes(std::span<const harness::worker::Command> commands);

}  // namespace rankcheck::cases
