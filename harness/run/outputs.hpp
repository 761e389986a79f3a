#pragma once

#include <filesystem>

/// Checks of output paths before the work starts.
namespace rankcheck::harness::run {

/// Throws BadInput if no file can be created or replaced at the path. The path then names something
/// else than a file, or its folder is missing or not writable.
void require_writable_file(const std::filesystem::path& path);

/// Throws BadInput if the folder is not writable, or does not exist and cannot be created.
void require_writable_folder(const std::filesystem::path& path);

/// Whether both paths name the same file. The file need not exist.
[[nodiscard]] bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace rankcheck::harness::run
