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

/// A folder with code, and the folders of its tree that its files may include besides their own.
struct Room {
  std::string_view folder;
  std::vector<std::string> below;
};

/// Returns the folders of cases/ and harness/ from bottom to top: a folder stands after all folders
/// that it may include. A tree's own name stands for the files that lie in no folder of the tree.
[[nodiscard]] std::span<const Room> rooms();

/// Returns the folder of `rooms()` that a file or header belongs to. Empty if the path is in
/// neither tree.
[[nodiscard]] std::string_view room_of(std::string_view path);

/// An include directive. `quoted` tells "name" from <name>.
struct Include {
  int line = 0;
  std::string_view name;
  bool quoted = false;
};

/// Returns the includes of a source. Empty for files that hold no code.
[[nodiscard]] std::vector<Include> includes(const Source& source);

/// Returns every rule, in a fixed order.
[[nodiscard]] std::span<const Rule> rules();

/// Finds folders of a tree that include one another in a circle. The folder of a file is its
/// directory, without the directories above. There is a violation for each arrow of a circle.
[[nodiscard]] std::vector<Violation> circles_of_folders(std::span<const Source> sources,
                                                        std::string_view tree);

/// Returns all text files of the project, sorted by path, without builds and reports of runs.
[[nodiscard]] std::vector<Source> read_project(const std::filesystem::path& root);

}  // namespace rankcheck::tidy
