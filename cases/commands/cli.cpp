#include "cases/commands/cli.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/files.hpp"
#include "harness/nearest.hpp"
#include "harness/program.hpp"
#include "harness/table.hpp"

#include "cases/backends/command_backend.hpp"
#include "cases/backends/registry.hpp"

namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using harness::BadInput;

constexpr std::string_view command_prefix = "command:";

const harness::BackendEntry* find_entry(const std::string& name) {
  for (const harness::BackendEntry& entry : backends()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

/// Returns the entries of a folder, sorted. Throws FileError.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code failure;
  const fs::directory_iterator entries(folder, failure);
  if (failure) {
    errno = failure.value();
    harness::throw_file_error("cannot read", folder);
  }
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : entries) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
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

/// Longer text is not a path on any system.
constexpr std::size_t path_bytes_max = 4096;

/// Reads a case from its text. If the text names no property and the operation does not claim the
/// default one, uses the first property that the operation claims.
harness::Case case_of(const harness::Catalogue& catalogue, const std::string& text) {
  harness::Case c = harness::case_from_text(text);
  const harness::Operation* operation = catalogue.find(c.operation);
  const bool is_open = operation != nullptr && !operation->properties.empty() &&
                       catalogue.find_property(c.operation, c.property) == nullptr &&
                       !nlohmann::json::parse(text).contains("property");
  if (is_open) c.property = operation->properties.front().name;
  return c;
}

harness::Suite read_suite(const fs::path& path) {
  return harness::suite_from_text(harness::read_file(path, text_bytes_max),
                                  "suite: " + path.string());
}

}  // namespace

std::vector<NamedBackend> known_backends() {
  std::vector<NamedBackend> all;
  for (const harness::BackendEntry& entry : backends()) {
    all.push_back({entry.name, entry.summary, entry.why_unavailable()});
    if (!all.back().unavailable.empty() && entry.compiled != nullptr) {
      all.back().compiled = entry.compiled();
    }
  }
  return all;
}

NamedBackend find_backend(const std::string& name) {
  if (name.starts_with(command_prefix)) {
    return {name,
            "A worker program of your own implements the operations.",
            why_command_unavailable(name.substr(command_prefix.size()))};
  }
  if (const harness::BackendEntry* entry = find_entry(name)) {
    return {entry->name, entry->summary, entry->why_unavailable()};
  }
  std::vector<std::string> names;
  for (const harness::BackendEntry& entry : backends()) names.push_back(entry.name);
  throw BadInput(
      fmt::format("backend: {:.60}: expected command:PATH or a backend of 'rankcheck list'{}",
                  name,
                  harness::did_you_mean(name, names)));
}

void require_backend(const std::string& name) {
  const NamedBackend backend = find_backend(name);
  if (backend.unavailable.empty()) return;
  throw BadInput(
      fmt::format("backend: {}: expected one that can run here: {}", name, backend.unavailable));
}

void expect_match(std::string_view what,
                  const std::string& pattern,
                  const std::set<std::string>& names) {
  const bool matches_some = std::any_of(names.begin(), names.end(), [&](const std::string& each) {
    return harness::matches(pattern, each);
  });
  if (matches_some) return;
  throw BadInput(fmt::format("--{} {:.60}: matches no {} that 'rankcheck list' shows{}",
                             what,
                             pattern,
                             what,
                             harness::did_you_mean(pattern, {names.begin(), names.end()})));
}

std::unique_ptr<harness::Backend> open_backend(const std::string& name,
                                               const harness::BackendOptions& options) {
  require_backend(name);
  if (name.starts_with(command_prefix)) {
    return open_command(name.substr(command_prefix.size()), options);
  }
  return find_entry(name)->open(options);
}

fs::path data_folder() {
  const fs::path folder = harness::own_program().parent_path();
  const fs::path beside = folder / "share" / "rankcheck";
  const fs::path above = folder.parent_path() / "share" / "rankcheck";
  std::error_code unknown;
  for (const fs::path& each : {beside, above}) {
    if (fs::is_directory(each, unknown)) return each;
  }
  throw BadInput(fmt::format("suites and pinned cases: expected the folder {} or {}, found neither",
                             beside.string(),
                             above.string()));
}

std::vector<harness::Suite> known_suites() {
  std::vector<harness::Suite> suites;
  for (const fs::path& file : json_files_in(data_folder() / "cases" / "suites")) {
    suites.push_back(read_suite(file));
  }
  return suites;
}

bool is_path_of_suite(const std::string& name) {
  return name.ends_with(".json");
}

harness::Suite find_suite(const std::string& name) {
  if (is_path_of_suite(name)) return read_suite(name);
  std::vector<std::string> names;
  for (harness::Suite& suite : known_suites()) {
    if (suite.name == name) return std::move(suite);
    names.push_back(suite.name);
  }
  throw BadInput(fmt::format(
      "suite: {:.60}: expected the path of a .json file or a suite of 'rankcheck list'{}",
      name,
      harness::did_you_mean(name, names)));
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
          const std::string text = harness::read_file(file, text_bytes_max);
          all.push_back({name, harness::case_from_text(text)});
        } catch (const BadInput& bad) {
          throw BadInput(fmt::format("pinned case: {}: {}", file.string(), bad.what()));
        }
      }
    }
  }
  std::sort(all.begin(), all.end(), [](const PinnedCase& a, const PinnedCase& b) {
    return a.name < b.name;
  });
  return all;
}

harness::Case read_case(const harness::Catalogue& catalogue, const std::string& text_or_path) {
  const std::size_t first = text_or_path.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) {
    throw BadInput("case: expected JSON text or the path of a file, got nothing");
  }
  if (text_or_path[first] == '{' || text_or_path[first] == '[') {
    return case_of(catalogue, text_or_path);
  }
  std::error_code unknown;
  if (!fs::exists(fs::status(text_or_path, unknown)) || text_or_path.size() > path_bytes_max) {
    throw BadInput("case: " + text_or_path.substr(0, 80) + ": expected JSON text or a file");
  }
  const std::string text = harness::read_file(text_or_path, text_bytes_max);
  try {
    return case_of(catalogue, text);
  } catch (const BadInput& bad) {
    throw BadInput(fmt::format("{}: {}", text_or_path, bad.what()));
  }
}

std::size_t terminal_width() {
  if (const char* columns = std::getenv("COLUMNS")) {
    const int width = std::atoi(columns);
    if (width > 0) return static_cast<std::size_t>(width);
  }
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : harness::Table::no_limit;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace rankcheck::cases
