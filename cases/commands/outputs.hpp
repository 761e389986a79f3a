#pragma once

#include <filesystem>

/// What can be said of outputs before the work that leads to them.
namespace rankcheck::cases {

/// Throws BadInput where no file can be created or replaced there: the path names something else
/// than a file, or its folder is missing or may not be written.
void require_writable_file(const std::filesystem::path& path);

/// Throws BadInput where there is no folder that may be written and none can be created.
void require_writable_folder(const std::filesystem::path& path);

/// Whether both name the same file, which need not exist.
[[nodiscard]] bool is_same_file(const std::filesystem::path& a, const std::filesystem::path& b);

}  // namespace rankcheck::cases
