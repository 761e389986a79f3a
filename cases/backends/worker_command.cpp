#include "cases/backends/worker_command.hpp"

#include <chrono>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/worker/session.hpp"

namespace rankcheck::cases {

namespace {

/// Told before it could listen, a process is killed by the signal; launchers exit with its number,
/// as MPICH's, or with that plus 128.
bool ended_by_being_told(harness::worker::Process& process) {
  const int status = process.status().value_or(0);
  return process.ending_signal() == worker_end_signal || status == worker_end_signal ||
         status == 128 + worker_end_signal;
}

}  // namespace

int run_worker(const harness::worker::Command& command,
               const std::string& what,
               const std::string& complaint,
               const std::atomic<bool>& interrupted) {
  harness::worker::Process process(command, {.output = STDOUT_FILENO});
  bool was_told = false;
  while (!process.wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(50))) {
    if (was_told || !interrupted) continue;
    process.signal(worker_end_signal);
    was_told = true;
  }
  const std::string last_words = process.last_words(complaint);
  if (!last_words.empty()) throw std::runtime_error(last_words.substr(complaint.size()));
  if (process.status().value_or(2) <= 1) return *process.status();
  if (was_told && ended_by_being_told(process)) return 0;
  throw std::runtime_error(
      harness::worker::with_last_words(fmt::format("{} {}", what, process.fate()), process));
}

}  // namespace rankcheck::cases
