#pragma once

#include <atomic>
#include <csignal>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "harness/base/stop.hpp"
#include "harness/case/verdict.hpp"
#include "harness/worker/process.hpp"

/// Starts worker programs as commands and waits for them.
namespace rankcheck::cases {

/// The signal that asks a worker to end early. Launchers forward this signal; on other signals they
/// kill the worker.
inline constexpr int worker_end_signal = SIGUSR1;

/// Starts a program that writes to our standard output, and waits until it ends. Asks it to end
/// once `interrupted` is true. Returns the exit status: 0, or 1 if something was falsified. Returns
/// 0 too if the program was asked to end before it could handle the signal. Otherwise throws
/// std::runtime_error. The message is the last line of error output that begins with `complaint`,
/// without this prefix. If no line does, the message is `what` and the way the program died.
[[nodiscard]] int run_worker(const harness::worker::Command& command,
                             const std::string& what,
                             const std::string& complaint,
                             const std::atomic<bool>& interrupted);

/// How a program ended, and what it printed.
struct ProgramEnd {
  /// passed if it ended with status 0, crashed if it ended otherwise, hung if it did not end, and
  /// errored if it could not be started.
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  /// The exit status. Empty if there is none.
  std::optional<int> status = {};
  std::string output = {};
  /// The last line of the error output. May be empty.
  std::string last_words = {};
};

/// Starts a program and waits until it ends. Kills it after `timeout_s` seconds. `what` names the
/// program in error messages. Throws harness::Interrupted if `stop` is made before the program
/// ends.
[[nodiscard]] ProgramEnd run_program(const harness::worker::Command& command,
                                     const std::string& what,
                                     double timeout_s,
                                     const harness::StopRequest& stop = {});

/// The answer of a worker program.
struct WorkerAnswer {
  /// passed if there is an answer; hung, crashed or errored if there is no usable one.
  harness::Verdict verdict = harness::Verdict::passed;
  std::string reason = {};
  nlohmann::json said = {};
};

/// Starts a program that prints a JSON object in one line and ends. Kills the program after
/// `timeout_s` seconds. A launcher may print further lines. `what` names the program in error
/// messages. Throws harness::Interrupted if `stop` is made before the program ends.
[[nodiscard]] WorkerAnswer ask_worker(const harness::worker::Command& command,
                                      const std::string& what,
                                      double timeout_s,
                                      const harness::StopRequest& stop = {});

}  // namespace rankcheck::cases
