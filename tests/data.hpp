#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

/// Measured and simulated scans, which are too large for the source tree.
namespace rankcheck::tests {

inline const std::string siemens_star = "siemens-star-small.cxi";

/// Returns the folder of the scans: the environment variable RANKCHECK_DATA, or a folder beside the
/// sources if it is not set.
inline std::filesystem::path data_folder() {
  const char* const named = std::getenv("RANKCHECK_DATA");
  if (named != nullptr) return named;
  return std::filesystem::path(RANKCHECK_SOURCE_DIR) / ".." / "shared" / "data";
}

/// Returns the path of a scan, or nullopt if the file is absent. An absent file is a test failure
/// if RANKCHECK_DATA is set.
inline std::optional<std::filesystem::path> data_file(const std::string& name) {
  std::filesystem::path path = data_folder() / name;
  if (std::filesystem::exists(path)) return path;
  if (std::getenv("RANKCHECK_DATA") != nullptr) {
    ADD_FAILURE() << path << " is absent, and RANKCHECK_DATA says that it is there";
  }
  return std::nullopt;
}

/// Returns the reason why a test that needs the file is skipped.
inline std::string absent(const std::string& name) {
  return (data_folder() / name).string() + " is absent: RANKCHECK_DATA names its folder";
}

}  // namespace rankcheck::tests
