#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rankcheck::cases {

/// The largest size of an archive in bytes.
inline constexpr std::int64_t archive_bytes_max = std::int64_t{16} << 20;

/// Throws BadInput if no archive can be written to this path, or if a file that is not a zip file
/// would be replaced. A run calls this before it begins.
void require_archive(const std::string& path);

/// Packs all files below `folder` into the zip file `path`, which replaces an older one as a whole.
/// While the archive has more than `bytes_max` bytes, its largest file is left out. The folder's
/// own report.json and summary.md always stay. LEFT_OUT.txt in the archive names the files that
/// were left out. Returns their names. Throws FileError.
std::vector<std::string> write_archive(const std::filesystem::path& folder,
                                       const std::filesystem::path& path,
                                       std::int64_t bytes_max = archive_bytes_max);

/// Calls write_archive() for the path that --archive gave, and prints the result. Does nothing if
/// the path is empty. Throws FileError.
void pack(const std::filesystem::path& folder,
          const std::string& path,
          std::int64_t bytes_max = archive_bytes_max);

}  // namespace rankcheck::cases
