#include "harness/run/outputs.hpp"

#include <cerrno>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "harness/base/bad_input.hpp"
#include "harness/base/descriptor.hpp"
#include "harness/base/files.hpp"

namespace rankcheck::harness::run {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject(const fs::path& path, std::string_view expected, std::string_view found) {
  throw BadInput(fmt::format("{}: found {}, expected {}", path.string(), found, expected));
}

[[noreturn]] void reject(const fs::path& path, std::string_view expected, int reason) {
  throw BadInput(fmt::format(
      "{}: cannot be written: {}, expected {}", path.string(), reason_of(reason), expected));
}

/// Returns the name of a file while it is being written. Each process has its own.
fs::path temporary(fs::path path) {
  return path += fmt::format(".{}.tmp", ::getpid());
}

/// Creates a file and removes it again. Only a trial shows what a file system accepts: names can be
/// too long, and some folders refuse even a privileged user. Returns the error number, or 0.
int why_no_file(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (file.get() < 0) return errno;
  ::unlink(path.c_str());
  return 0;
}

/// Throws BadInput that names `path` unless entries can be created in this folder.
void require_folder(const fs::path& path, const fs::path& folder, std::string_view expected) {
  std::error_code unknown;
  if (!fs::exists(folder, unknown)) reject(path, expected, "no folder " + folder.string());
  if (!fs::is_directory(folder, unknown))
    reject(path, expected, folder.string() + ", which is not a folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    reject(path, expected, folder.string() + ", which is not writable");
  }
}

}  // namespace

void require_writable_file(const fs::path& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  if (fs::is_directory(status)) reject(path, "a file", "a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    reject(path, "a file", "something else, which would be lost");
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  constexpr std::string_view expected = "a file in a writable folder";
  require_folder(path, folder, expected);
  if (const int reason = why_no_file(temporary(path)); reason != 0) reject(path, expected, reason);
}

void require_writable_folder(const fs::path& path) {
  std::error_code unknown;
  fs::path there = fs::absolute(path, unknown).lexically_normal();
  std::vector<fs::path> missing;
  while (there.has_relative_path() && !fs::exists(there, unknown)) {
    if (there.has_filename()) missing.insert(missing.begin(), there.filename());
    there = there.parent_path();
  }
  constexpr std::string_view expected = "a writable folder";
  require_folder(path, there, expected);
  // The first missing folder gets a temporary name, so that no other process uses it.
  const fs::path first = missing.empty() ? there : temporary(there / missing.front());
  fs::path deepest = first;
  for (std::size_t i = 1; i < missing.size(); ++i) deepest /= missing[i];
  std::error_code failure;
  fs::create_directories(deepest, failure);
  const int reason = failure ? failure.value() : why_no_file(temporary(deepest / "file"));
  if (!missing.empty()) fs::remove_all(first, unknown);
  if (reason != 0) reject(path, expected, reason);
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code unknown;
  if (fs::equivalent(a, b, unknown)) return true;
  const auto whole = [&](const fs::path& path) {
    return fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  };
  return whole(a) == whole(b);
}

}  // namespace rankcheck::harness::run
