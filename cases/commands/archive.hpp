#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rankcheck::cases {

/// The most bytes of an archive.
inline constexpr std::int64_t archive_bytes_max = std::int64_t{16} << 20;

/// Throws BadInput where no archive can be written to that path, or where something else than a zip
/// file would be lost: a run says so before it begins.
void require_archive(const std::string& path);

/// Packs all files below `folder` into the zip file `path`, which replaces an older one as a whole.
/// While the archive has more than `bytes_max` bytes, the file that takes the most of it is left
/// out, but never the folder's own report.json and summary.md; LEFT_OUT.txt in the archive names
/// these files. Returns their names. Throws FileError.
std::vector<std::string> write_archive(const std::filesystem::path& folder,
                                       const std::filesystem::path& path,
                                       std::int64_t bytes_max = archive_bytes_max);

/// Calls write_archive() for the path that --archive gave, and prints the result. Does nothing if
/// the path is empty. Throws FileError.
void pack(const std::filesystem::path& folder,
          const std::string& path,
          std::int64_t bytes_max = archive_bytes_max);

}  // namespace rankcheck::cases
