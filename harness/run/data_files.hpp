#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/suite/suite_file.hpp"

/// The files that come with this program.
namespace rankcheck::harness::run {

/// Upper limit for the bytes of cases, suites and topologies. They are small texts; a larger file
/// is something else.
inline constexpr std::size_t text_bytes_max = std::size_t{1} << 20;

/// Returns the folder of suites, pinned cases and topologies: share/rankcheck in the program's
/// folder or in its parent folder. In a build tree this is a link to the sources. Throws BadInput
/// if neither exists.
[[nodiscard]] std::filesystem::path data_folder();
/// Returns all suites that come with rankcheck, sorted by name.
[[nodiscard]] std::vector<Suite> known_suites();
/// Whether the name of a suite is the path of its file.
[[nodiscard]] bool is_path_of_suite(const std::string& name);
/// Finds a suite by its name or by the path of its file. Throws BadInput, which lists similar
/// names.
[[nodiscard]] Suite find_suite(const std::string& name);

/// A pinned case and its name. The name "all_reduce/dropped_chunk" belongs to the file
/// cases/<family>/all_reduce/pinned/dropped_chunk.json.
struct PinnedCase {
  std::string name;
  Case value;
};

/// Returns all pinned cases, sorted by name. Throws BadInput that names the file. Throws FileError
/// if cases/ cannot be read, because a run must not lose its pinned cases silently.
[[nodiscard]] std::vector<PinnedCase> pinned_cases();

}  // namespace rankcheck::harness::run
