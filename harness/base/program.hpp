#pragma once

#include <filesystem>
#include <string>

namespace rankcheck::harness {

/// The absolute path of the program that this process runs. Without /proc it also works, until the
/// process changes its working folder. Throws FileError.
[[nodiscard]] std::filesystem::path own_program();

/// Returns the file that a shell would run as this program: a path with a slash itself, otherwise
/// the first one in the folders of PATH. Empty if no such file can be executed.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

}  // namespace rankcheck::harness
