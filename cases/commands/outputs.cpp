#include "cases/commands/outputs.hpp"

#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "harness/case.hpp"

namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void reject(const fs::path& path, std::string_view expected, std::string_view found) {
  throw harness::BadInput(fmt::format("{}: expected {}, found {}", path.string(), expected, found));
}

/// Throws unless entries can be made in this folder, for the sake of `path`.
void require_folder(const fs::path& path, const fs::path& folder, std::string_view expected) {
  std::error_code unknown;
  if (!fs::exists(folder, unknown)) reject(path, expected, "no folder " + folder.string());
  if (!fs::is_directory(folder, unknown)) reject(path, expected, folder.string() + ", no folder");
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    reject(path, expected, folder.string() + ", which may not be written");
  }
}

}  // namespace

void require_writable_file(const fs::path& path) {
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  if (fs::is_directory(status)) reject(path, "a file", "a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    reject(path, "a file", "something that replacing would destroy");
  }
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  require_folder(path, folder, "a file in a folder that may be written");
}

void require_writable_folder(const fs::path& path) {
  std::error_code unknown;
  fs::path there = fs::absolute(path, unknown).lexically_normal();
  while (there.has_relative_path() && !fs::exists(there, unknown)) there = there.parent_path();
  require_folder(path, there, "a folder that may be written");
}

bool is_same_file(const fs::path& a, const fs::path& b) {
  std::error_code unknown;
  if (fs::equivalent(a, b, unknown)) return true;
  const auto whole = [&](const fs::path& path) {
    return fs::weakly_canonical(fs::absolute(path, unknown), unknown);
  };
  return whole(a) == whole(b);
}

}  // namespace rankcheck::cases
