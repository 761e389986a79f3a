#pragma once

#include <atomic>
#include <csignal>
#include <string>

#include <nlohmann/json.hpp>

#include "harness/stop.hpp"
#include "harness/verdict.hpp"
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

/// What a program said.
struct WorkerAnswer {
  /// passed; hung, crashed or errored where it said nothing that counts.
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  nlohmann::json said = {};
};

/// Starts a program that prints an object of JSON in one line and ends, and kills it after
/// `timeout_s`; a launcher may print lines of its own. `what` names it where something goes wrong.
/// Throws harness::Interrupted where `stop` is made before the program has ended.
[[nodiscard]] WorkerAnswer ask_worker(const harness::worker::Command& command,
                                      const std::string& what,
                                      double timeout_s,
                                      const harness::StopRequest& stop = {});

}  // namespace rankcheck::cases
