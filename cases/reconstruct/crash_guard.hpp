#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <filesystem>

namespace rankcheck::cases::reconstruct {

/// The HDF5 library crashes on some damaged files. While this object lives, a crash prints one line
/// about the file and ends the program, because the memory may be damaged after a crash. No other
/// thread may run meanwhile: its crash would be reported as a crash on the file.
class CrashGuard {
 public:
  explicit CrashGuard(const std::filesystem::path& path);
  CrashGuard(const CrashGuard&) = delete;
  CrashGuard& operator=(const CrashGuard&) = delete;
  ~CrashGuard();

 private:
  static constexpr std::array signals{SIGSEGV, SIGBUS, SIGFPE, SIGABRT};

  std::array<struct sigaction, signals.size()> actions_before_{};
  stack_t stack_before_{};
};

}  // namespace rankcheck::cases::reconstruct
