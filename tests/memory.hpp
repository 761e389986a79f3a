#pragma once

#include <fstream>
#include <string>

/// What processes take of this machine's memory, by the system's count.
namespace rankcheck::tests {

/// Sanitizers take memory of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool has_sanitizer = true;
#else
inline constexpr bool has_sanitizer = false;
#endif

/// A line of what the system says of this process, in bytes: "VmRSS:"; 0 where it says nothing.
inline double status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == name && status >> kibibytes) return 1024 * kibibytes;
  }
  return 0;
}

}  // namespace rankcheck::tests
