#pragma once

#include <cstdio>
#include <cstdlib>

namespace rankcheck::spec {

/// Prints a broken invariant to stderr and ends the program; see RANKCHECK_ASSERT.
[[noreturn]] inline void fail_assertion(const char* invariant, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: this invariant does not hold: %s\n", file, line, invariant);
  std::abort();
}

}  // namespace rankcheck::spec

/// Checks an invariant of rankcheck's own code, in every build. Where it does not hold, prints it
/// with its place and ends the program, so that a run reports `crashed`, not a verdict. What users
/// can cause is no invariant: throw BadInput or DeviceError for it. Use it on the host, where one
/// comparison costs nothing beside the work. Device code of CUDA does not check. Only the name of
/// the file is kept, because programs must not hold paths of the machine that built them.
#if defined(__CUDA_ARCH__)
#define RANKCHECK_ASSERT(invariant) static_cast<void>(0)
#else
#define RANKCHECK_ASSERT(invariant) \
  (static_cast<bool>(invariant)     \
       ? static_cast<void>(0)       \
       : ::rankcheck::spec::fail_assertion(#invariant, __FILE_NAME__, __LINE__))
#endif
