#include "harness/run/data_files.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>

#include "harness/base/files.hpp"
#include "harness/base/nearest.hpp"
#include "harness/base/program.hpp"

namespace rankcheck::harness::run {

namespace {

namespace fs = std::filesystem;

/// Returns the entries of a folder, sorted. Throws FileError.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code failure;
  const fs::directory_iterator entries(folder, failure);
  if (failure) {
    errno = failure.value();
    throw_file_error("cannot read", folder);
  }
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : entries) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::vector<fs::path> folders = entries_of(folder);
  std::erase_if(folders, [](const fs::path& each) { return !fs::is_directory(each); });
  return folders;
}

std::vector<fs::path> json_files_in(const fs::path& folder) {
  std::vector<fs::path> files = entries_of(folder);
  std::erase_if(files, [](const fs::path& each) { return each.extension() != ".json"; });
  return files;
}

Suite read_suite(const fs::path& path) {
  return suite_from_text(read_file(path, text_bytes_max), "suite: " + path.string());
}

}  // namespace

fs::path data_folder() {
  const fs::path folder = own_program().parent_path();
  const fs::path beside = folder / "share" / "rankcheck";
  const fs::path above = folder.parent_path() / "share" / "rankcheck";
  std::error_code unknown;
  for (const fs::path& each : {beside, above}) {
    if (fs::is_directory(each, unknown)) return each;
  }
  throw BadInput(fmt::format("suites and pinned cases: are missing, expected the folder {} or {}",
                             beside.string(),
                             above.string()));
}

std::vector<Suite> known_suites() {
  std::vector<Suite> suites;
  for (const fs::path& file : json_files_in(data_folder() / "cases" / "suites")) {
    suites.push_back(read_suite(file));
  }
  return suites;
}

bool is_path_of_suite(const std::string& name) {
  return name.ends_with(".json");
}

Suite find_suite(const std::string& name) {
  if (is_path_of_suite(name)) return read_suite(name);
  std::vector<std::string> names;
  for (Suite& suite : known_suites()) {
    if (suite.name == name) return std::move(suite);
    names.push_back(suite.name);
  }
  throw BadInput(fmt::format(
      "suite: {:.60}: expected the path of a .json file or a suite of 'rankcheck list'{}",
      name,
      did_you_mean(name, names)));
}

std::vector<PinnedCase> pinned_cases() {
  std::vector<PinnedCase> all;
  for (const fs::path& family : folders_in(data_folder() / "cases")) {
    for (const fs::path& operation : folders_in(family)) {
      const fs::path pinned = operation / "pinned";
      if (!fs::exists(pinned)) continue;
      for (const fs::path& file : json_files_in(pinned)) {
        const std::string name = operation.filename().string() + '/' + file.stem().string();
        try {
          const std::string text = read_file(file, text_bytes_max);
          all.push_back({name, case_from_text(text)});
        } catch (const BadInput& bad) {
          throw BadInput(fmt::format("pinned case: {}: {}", file.string(), bad.what()));
        }
      }
    }
  }
  std::ranges::sort(all, [](const PinnedCase& a, const PinnedCase& b) { return a.name < b.name; });
  return all;
}

}  // namespace rankcheck::harness::run
