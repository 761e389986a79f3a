#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rankcheck::harness {

/// A file could not be read or written: one line with the path and the system's reason.
class FileError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws FileError "<what>: <path>: <reason of errno>".
[[noreturn]] void throw_file_error(std::string_view what, const std::filesystem::path& path);

/// The most bytes that any file is read with; a journal of a year of runs is smaller.
inline constexpr std::size_t file_bytes_max = std::size_t{1} << 30;

/// The whole file. Throws FileError, also where it is no regular file, whose reading might wait for
/// ever or have no end, and where it holds more than `bytes_max`.
[[nodiscard]] std::string read_file(const std::filesystem::path& path,
                                    std::size_t bytes_max = file_bytes_max);

/// For files that a library reads: throws FileError unless this process may read the file and it is
/// a regular one.
void require_regular_file(const std::filesystem::path& path);

/// The content with a checksum behind it, for require_seal(). Readers of most formats, HDF5 among
/// them, pass over what stands behind the end of their data.
[[nodiscard]] std::string sealed(std::string content);
/// Throws FileError where the file cannot be read, or does not end with the checksum of all that
/// stands before.
void require_seal(const std::filesystem::path& path);

/// Writes a temporary file beside `path` and renames it: readers see the old content or the new,
/// never a part. Throws FileError and leaves nothing behind.
void write_file(const std::filesystem::path& path, std::string_view content);

/// Creates the folder and its parents. Throws FileError.
void make_folder(const std::filesystem::path& path);

/// A file that grows by whole lines and survives a kill after each; owned by one process at a time.
class LineFile {
 public:
  /// Opens or creates the file and locks it. Throws FileError, also where another process has it.
  explicit LineFile(const std::filesystem::path& path);
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;
  ~LineFile();

  /// Cuts the file to its first `size_bytes` bytes.
  void truncate(std::uintmax_t size_bytes);
  /// Appends the line and a newline, and returns when the disk has them. Throws FileError.
  void append(std::string_view line);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

}  // namespace rankcheck::harness
