#pragma once

#include <string>

namespace rankcheck::cases {

/// Returns the version of this program.
[[nodiscard]] const char* version();

/// Returns the commit that this program was built from, with "-dirty" if sources had changed since.
/// Returns "unknown" if the build had no git.
[[nodiscard]] const char* commit();

/// Returns the compiler that built this program.
[[nodiscard]] const char* compiler();

/// Returns the text of `--version`: version and commit in the first line, then how the program was
/// built and which backends are in its folder.
[[nodiscard]] std::string describe_build();

}  // namespace rankcheck::cases
