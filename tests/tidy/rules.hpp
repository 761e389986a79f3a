#pragma once

#include <filesystem>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// House rules that can be checked in the text alone, without a compiler or Python.
namespace rankcheck::tidy {

/// A file of the project. The path is relative to the project's root.
struct Source {
  std::string path;
  std::string text;
};

/// A place where a rule is broken. Lines count from 1.
struct Violation {
  std::string path;
  int line = 0;
  std::string what;
};

struct Rule {
  /// The claim that must hold, in the present tense.
  std::string_view name;
  /// Appends every place in the file where the rule is broken.
  void (*check)(const Source& source, std::vector<Violation>& violations) = nullptr;

  /// Names the tests.
  friend void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }
};

/// Returns every rule, in a fixed order.
[[nodiscard]] std::span<const Rule> rules();

/// Returns all text files of the project, sorted by path, without builds and reports of runs.
[[nodiscard]] std::vector<Source> read_project(const std::filesystem::path& root);

}  // namespace rankcheck::tidy
