#pragma once

#include <filesystem>

namespace rankcheck::harness {

/// The absolute path of the program that this process runs. Without /proc it also works, until the
/// process changes its working folder. Throws FileError.
[[nodiscard]] std::filesystem::path own_program();

}  // namespace rankcheck::harness
