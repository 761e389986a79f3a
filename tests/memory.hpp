#pragma once

#include <fstream>
#include <string>

/// Memory of processes, as the system counts it.
namespace rankcheck::tests {

/// Sanitizers take memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool has_sanitizer = true;
#else
inline constexpr bool has_sanitizer = false;
#endif

/// Returns a line of this process's /proc status in bytes, such as "VmRSS:"; 0 if there is no such
/// line.
inline double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == name && status >> kibibytes) return 1024 * kibibytes;
  }
  return 0;
}

}  // namespace rankcheck::tests
