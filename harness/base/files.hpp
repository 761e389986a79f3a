#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

#include "harness/base/descriptor.hpp"

namespace rankcheck::harness {

/// A file could not be read or written. The message is one line with the path and the reason.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the text of an error number of a file. For a name that is too long, says the limit.
[[nodiscard]] std::string reason_of(int error);

/// Throws FileError "<what>: <path>: <reason of errno>".
[[noreturn]] void throw_file_error(std::string_view what, const std::filesystem::path& path);

/// Maximum size of a file that is read, in bytes. The journal of a year of runs is smaller.
inline constexpr std::size_t file_bytes_max = std::size_t{1} << 30;

/// Returns the whole file. Throws FileError if it cannot be read, holds more than `bytes_max`
/// bytes, or is no regular file: reading another kind might block or never end.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::size_t bytes_max = file_bytes_max);

/// For files that a library reads: throws FileError unless this process may read the file and it is
/// a regular file.
void require_regular_file(const std::filesystem::path& path);

/// Returns the content with a checksum at the end, for require_seal(). Readers of most formats,
/// including HDF5, ignore bytes behind the end of their data.
[[nodiscard]] std::string sealed(std::string content);
/// Throws FileError if the file cannot be read or does not end with the checksum of the bytes
/// before.
void require_seal(const std::filesystem::path& path);

/// Writes a temporary file beside `path` and renames it. Readers see the old content or the new
/// content, never a part. If it throws FileError, it leaves nothing behind.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Creates the folder and its parents. Throws FileError.
void make_folder(const std::filesystem::path& path);

/// A file that grows by whole lines. Every appended line survives a kill of the process. Only one
/// process at a time owns the file.
class LineFile {
 public:
  /// Opens or creates the file and locks it. Throws FileError, also if another process has locked
  /// it.
  explicit LineFile(const std::filesystem::path& path);

  /// Cuts the file to its first `size_bytes` bytes. Throws FileError.
  void truncate(std::uintmax_t size_bytes);
  /// Appends the line and a newline; returns when they are on the disk. Throws FileError.
  void append(std::string_view line);

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace rankcheck::harness
