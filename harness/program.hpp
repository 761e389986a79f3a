#pragma once

#include <filesystem>

namespace rankcheck::harness {

/// The file of the program that this process runs, as an absolute path; works without /proc, too,
/// until the process changes its working folder. Throws FileError.
[[nodiscard]] std::filesystem::path own_program();

}  // namespace rankcheck::harness
