#pragma once

#include <string>

namespace rankcheck::cases {

/// The version of this program.
[[nodiscard]] const char* version();

/// The commit that it was built from, with "-dirty" where sources had changed since; "unknown"
/// where the build had no git.
[[nodiscard]] const char* commit();

/// The compiler that built this program.
[[nodiscard]] const char* compiler();

/// What `--version` prints: version and commit in the first line, then how it was built and which
/// backends are beside it.
[[nodiscard]] std::string describe_build();

}  // namespace rankcheck::cases
