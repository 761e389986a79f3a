#include "cases/reconstruct/crash_guard.hpp"

#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/base/table.hpp"
#include "harness/run/exit_status.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

/// The line that a crash prints. A signal handler can reach only static storage.
std::string& crash_line() {
  static std::string line;
  return line;
}

/// Calls only functions that are safe in a signal handler.
void give_up(int /*signal*/) {
  const std::string& line = crash_line();
  const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  static_cast<void>(written);
  ::_exit(harness::run::status_unable);
}

}  // namespace

CrashGuard::CrashGuard(const std::filesystem::path& path) {
  constexpr std::size_t bytes_max = 280;
  std::string& line = crash_line();
  line = harness::shortened(
      fmt::format("rankcheck: {}: found a file on which the library crashes, expected an HDF5 file",
                  path.string()),
      bytes_max);
  line += '\n';
  // After a stack overflow, the handler needs a stack of its own.
  static std::array<char, std::size_t{1} << 16> stack;
  stack_t other{};
  other.ss_sp = stack.data();
  other.ss_size = stack.size();
  ::sigaltstack(&other, &stack_before_);
  struct sigaction action {};
  action.sa_handler = give_up;
  action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], &action, &actions_before_[i]);
  }
}

CrashGuard::~CrashGuard() {
  for (std::size_t i = 0; i < signals.size(); ++i) {
    ::sigaction(signals[i], &actions_before_[i], nullptr);
  }
  ::sigaltstack(&stack_before_, nullptr);
}

}  // namespace rankcheck::cases::reconstruct
