#pragma once

#include <fstream>
#include <string>

// GCC defines a macro for each sanitizer, and Clang has features.
#ifdef __has_feature
#define RANKCHECK_HAS_FEATURE(name) __has_feature(name)
#else
#define RANKCHECK_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || RANKCHECK_HAS_FEATURE(address_sanitizer) || \
    defined(__SANITIZE_THREAD__) || RANKCHECK_HAS_FEATURE(thread_sanitizer)
#define RANKCHECK_HAS_SANITIZER 1
#else
#define RANKCHECK_HAS_SANITIZER 0
#endif

/// Memory of processes, as the system counts it.
namespace rankcheck::tests {

/// Sanitizers take memory of their own.
inline constexpr bool has_sanitizer = RANKCHECK_HAS_SANITIZER == 1;

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
