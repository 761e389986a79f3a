#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

/// Measured and simulated scans that are too large to stand among the sources.
namespace rankcheck::tests {

inline const std::string siemens_star = "siemens-star-small.cxi";

/// The folder that they are in: what the environment says in RANKCHECK_DATA, else beside the
/// sources.
inline std::filesystem::path data_folder() {
  const char* const named = std::getenv("RANKCHECK_DATA");
  if (named != nullptr) return named;
  return std::filesystem::path(RANKCHECK_SOURCE_DIR) / ".." / "shared" / "data";
}

/// A file of theirs; none where it is absent, which is a failure where RANKCHECK_DATA names the
/// folder.
inline std::optional<std::filesystem::path> data_file(const std::string& name) {
  std::filesystem::path path = data_folder() / name;
  if (std::filesystem::exists(path)) return path;
  if (std::getenv("RANKCHECK_DATA") != nullptr) {
    ADD_FAILURE() << path << " is absent, and RANKCHECK_DATA says that it is there";
  }
  return std::nullopt;
}

/// Why a test is skipped that needs the file.
inline std::string absent(const std::string& name) {
  return (data_folder() / name).string() + " is absent: RANKCHECK_DATA names its folder";
}

}  // namespace rankcheck::tests
