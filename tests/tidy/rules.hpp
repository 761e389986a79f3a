#pragma once

#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// House rules that a glance at the text decides; no compiler, no Python.
namespace rankcheck::tidy {

/// A file of the project; the path is relative to its root.
struct Source {
  std::string path;
  std::string text;
};

/// Where a rule is broken; lines count from 1.
struct Violation {
  std::string path;
  int line = 0;
  std::string what;
};

struct Rule {
  /// What holds, in the present tense.
  std::string_view name;
  /// Appends every place in the file where it does not.
  void (*check)(const Source& source, std::vector<Violation>& violations) = nullptr;

  /// Names the tests.
  friend void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }
};

/// Every rule, in a fixed order.
[[nodiscard]] std::span<const Rule> rules();

/// Every text file that belongs to the project, sorted by path; builds and reports of runs do not.
[[nodiscard]] std::vector<Source> read_project(const std::filesystem::path& root);

}  // namespace rankcheck::tidy
