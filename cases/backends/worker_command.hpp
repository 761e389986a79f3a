#pragma once

#include <atomic>
#include <csignal>
#include <string>

#include "harness/worker/process.hpp"

/// Worker programs as commands that the user waits for.
namespace rankcheck::cases {

/// The signal that asks a worker to end early: launchers pass it on, while they answer others by
/// killing.
inline constexpr int worker_end_signal = SIGUSR1;

/// Starts a program whose standard output is ours, and waits until it ends; asks it to once
/// `interrupted` is true. Returns its exit status: 0, or 1 where something was falsified. Throws
/// std::runtime_error with the last line of its error output that begins with `complaint`, without
/// that, or else with how it died, which then is what `what` did.
[[nodiscard]] int run_worker(const harness::worker::Command& command,
                             const std::string& what,
                             const std::string& complaint,
                             const std::atomic<bool>& interrupted);

}  // namespace rankcheck::cases
