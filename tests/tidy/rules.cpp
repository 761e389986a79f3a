#include "tests/tidy/rules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace rankcheck::tidy {

namespace {

constexpr std::size_t columns_max = 100;
constexpr int function_lines_max = 70;

using Violations = std::vector<Violation>;

bool is_one_of(std::string_view value, std::initializer_list<std::string_view> values) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

std::string_view extension(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos || dot < path.rfind('/') + 1 ? "" : path.substr(dot);
}

bool is_header(std::string_view path) {
  return is_one_of(extension(path), {".hpp", ".cuh"});
}

bool is_code(std::string_view path) {
  return is_header(path) || is_one_of(extension(path), {".cpp", ".cu"});
}

/// Whether the file is a script, whose comments begin with #.
bool is_script(std::string_view path) {
  return is_one_of(extension(path), {".cmake", ".sh"}) ||
         is_one_of(path.substr(path.rfind('/') + 1), {"CMakeLists.txt", "verify", "run"});
}

std::string_view trimmed(std::string_view line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first == std::string_view::npos ? "" : line.substr(first);
}

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

/// Calls visit(number, line) with every line, without the line's end. Numbers start at 1.
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    visit(number, text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

/// Whether every tree may include the file: it holds names and shapes, no arithmetic.
bool is_ground_floor(std::string_view path) {
  return path.starts_with("reference/spec/") ||
         (path.starts_with("reference/") && path.ends_with("/contract.hpp"));
}

/// Whether one file may include another: the arrow between their trees points down.
bool may_include(std::string_view from, std::string_view to) {
  const std::string_view tree = from.substr(0, from.find('/') + 1);
  const bool is_generated = to.find('/') == std::string_view::npos && to.ends_with(".inc");
  if (is_generated) return true;
  if (from.starts_with("reference/spec/")) return to.starts_with("reference/spec/");
  if (is_one_of(tree, {"reference/", "gpu/", "harness/"})) {
    return to.starts_with(tree) || is_ground_floor(to);
  }
  const bool is_ours = to.starts_with("reference/") || to.starts_with("gpu/") ||
                       to.starts_with("harness/") || to.starts_with("cases/");
  return is_ours || (tree == "tests/" && to.starts_with("tests/"));
}

/// Appends a violation for each include that `is_wrong`.
template <class IsWrong>
void check_includes(const Source& source, Violations& violations, IsWrong is_wrong) {
  for (const Include& include : includes(source)) {
    if (!is_wrong(include)) continue;
    violations.push_back({source.path, include.line, "includes " + std::string(include.name)});
  }
}

void includes_point_down(const Source& source, Violations& violations) {
  check_includes(source, violations, [&](const Include& include) {
    return include.quoted && !may_include(source.path, include.name);
  });
}

/// The folders of the two trees from bottom to top, each with the names of the folders of its tree
/// that it may include. Whoever needs a further arrow adds it here, if the folder that it leads to
/// stands above in this table.
constexpr std::array<std::pair<std::string_view, std::string_view>, 33> folders_below{{
    {"harness", ""},
    {"harness/base", ""},
    {"harness/case", "base"},
    {"harness/backend", "base case"},
    {"harness/check", "base case backend"},
    {"harness/worker", "base case backend"},
    {"harness/properties", "check"},
    {"harness/suite", "base case backend check"},
    {"harness/known", "base case check suite"},
    {"harness/search", "base case backend check suite known"},
    {"harness/report", "base case check known search"},
    {"harness/conformance", "base case backend check worker search"},
    {"harness/run", "base case backend check suite known search report"},
    {"harness/page", "base check report"},
    {"harness/compare", "base case known report page"},
    // Headers for programs outside of this tree.
    {"harness/client", ""},
    // What cases are, and what an operation claims.
    {"cases/families", ""},
    {"cases/suites", ""},
    {"cases/collectives", "families suites"},
    {"cases/ptycho", "families suites"},
    {"cases/evaluate", "families collectives ptycho"},
    {"cases/traces", "families"},
    {"cases/emit", "families collectives"},
    // How devices are reached, and what is done with them.
    {"cases/devices", "families"},
    {"cases/backends", "families devices"},
    {"cases/audit", "families backends"},
    {"cases/hardware", "devices backends"},
    {"cases/bench", "families suites devices backends"},
    {"cases/reconstruct", "families ptycho"},
    {"cases/subjects", ""},
    // Programs.
    {"cases/workers", "families devices backends reconstruct"},
    {"cases/commands",
     "families suites collectives ptycho evaluate traces emit backends audit hardware bench "
     "reconstruct"},
    {"cases", "commands"},
}};

/// Both trees have an order of their own: a folder includes only the folders that `rooms()` names.
void folders_keep_their_order(const Source& source, Violations& violations) {
  const std::string_view folder = room_of(source.path);
  if (folder.empty() || !is_code(source.path)) return;
  const auto room = std::ranges::find(rooms(), folder, &Room::folder);
  if (room == rooms().end()) {
    violations.push_back({source.path, 1, "its folder is missing in the table of folders"});
    return;
  }
  const std::string_view tree = folder.substr(0, folder.find('/'));
  check_includes(source, violations, [&](const Include& include) {
    const std::string_view to = room_of(include.name);
    const bool is_of_tree = to.substr(0, to.find('/')) == tree;
    return include.quoted && is_of_tree && to != folder &&
           std::ranges::find(room->below, to) == room->below.end();
  });
}

/// Appends a violation for each line that why_wrong(line) gives a reason for.
template <class WhyWrong>
void check_lines(const Source& source, Violations& violations, WhyWrong why_wrong) {
  for_each_line(source.text, [&](int number, std::string_view line) {
    if (const std::string why = why_wrong(line); !why.empty()) {
      violations.push_back({source.path, number, why});
    }
  });
}

/// Returns the first of the words that is a part of the text; empty if none is.
std::string first_part_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != text.npos) return std::string(word);
  }
  return {};
}

/// What is special about a backend is a trait of its entry, so runs need no name of a backend.
void runs_name_no_backend(const Source& source, Violations& violations) {
  if (!source.path.starts_with("harness/run/")) return;
  check_lines(source, violations, [](std::string_view line) {
    return first_part_of(line, {"\"sim\"", "\"mpi\"", "\"cuda\"", "\"nccl\"", "\"hybrid\""});
  });
}

/// What only one family needs is a function of Family, so the harness needs no word of a family.
void harness_names_no_family(const Source& source, Violations& violations) {
  if (!source.path.starts_with("harness/") || !is_code(source.path)) return;
  check_lines(source, violations, [](std::string_view line) {
    return first_part_of(in_lower_case(line), {"probe", "object_", "scan", "detector", "ptycho"});
  });
}

/// Headers that only some files may include: the file's path must contain one of `places`.
struct Confined {
  std::string_view header;
  std::vector<std::string_view> places;
};

const std::vector<Confined>& confined_headers() {
  static const std::vector<std::string_view> cuda{
      "gpu/device/cuda/", "gpu/device/nccl/", "cases/workers/", "tests/gpu/", ".cu"};
  static const std::vector<std::string_view> threads{"harness/", "cases/", "gpu/device/", "tests/"};
  static const std::vector<Confined> all{
      {"rapidcheck", {"harness/search/engine.cpp"}},
      {"gtest/", {"tests/"}},
      {"H5", {"cases/reconstruct/hdf5", "tests/cases/reconstruct/read_filter_test.cpp"}},
      {"cairo/", {"cases/reconstruct/pictures.cpp"}},
      {"mpi", {"gpu/device/mpi/", "gpu/device/hybrid/", "/mpi.cpp", "tests/gpu/device/mpi"}},
      {"nccl.h", {"gpu/device/nccl/", "cases/workers/"}},
      {"cuda", cuda},
      {"cufft", cuda},
      // Distributions differ between standard libraries, so a seed would not always mean the same
      // case.
      {"random", {"tests/"}},
      // References and plans have no threads.
      {"thread", threads},
      {"mutex", threads},
      {"atomic", threads},
      {"future", threads},
      // The project's own assertion stays on in every build.
      {"cassert", {}},
  };
  return all;
}

void confined_headers_stay_home(const Source& source, Violations& violations) {
  for (const Confined& confined : confined_headers()) {
    const bool at_home = std::ranges::any_of(confined.places, [&](std::string_view place) {
      return source.path.find(place) != std::string::npos;
    });
    check_includes(source, violations, [&](const Include& include) {
      return !at_home && !include.quoted && include.name.starts_with(confined.header);
    });
  }
}

void headers_start_with_pragma_once(const Source& source, Violations& violations) {
  if (is_header(source.path) && !source.text.starts_with("#pragma once\n")) {
    violations.push_back({source.path, 1, "does not start with #pragma once"});
  }
}

/// This order makes sure that compiling a source shows whether its header is complete.
void sources_include_their_header_first(const Source& source, Violations& violations) {
  if (extension(source.path) != ".cpp") return;
  const std::string own = source.path.substr(0, source.path.size() - 4) + ".hpp";
  const std::vector<Include> all = includes(source);
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (all[i].name == own) {
      violations.push_back({source.path, all[i].line, "its own header is not the first include"});
    }
  }
}

void namespaces_are_not_opened_to_all(const Source& source, Violations& violations) {
  if (!is_code(source.path)) return;
  check_lines(source, violations, [](std::string_view line) {
    return trimmed(line).starts_with("using namespace") ? "using namespace" : "";
  });
}

void macros_bear_our_name(const Source& source, Violations& violations) {
  if (!is_code(source.path)) return;
  check_lines(source, violations, [](std::string_view line) {
    const bool is_ours = !line.starts_with("#define ") || line.starts_with("#define RANKCHECK_");
    return std::string(is_ours ? "" : line);
  });
}

/// Counts characters, not bytes: continuation bytes of UTF-8 do not count.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

void lines_are_clean(const Source& source, Violations& violations) {
  // Pages, data and Python may have longer lines.
  const bool may_be_long = is_one_of(extension(source.path), {".md", ".json", ".py"});
  const auto report = [&](int number, const char* what) {
    violations.push_back({source.path, number, what});
  };
  int lines = 0;
  for_each_line(source.text, [&](int number, std::string_view line) {
    lines = number;
    if (!may_be_long && columns(line) > columns_max) report(number, "more than 100 columns");
    if (line.find('\t') != std::string_view::npos) report(number, "tab");
    if (line.ends_with(' ') || line.ends_with('\r')) report(number, "white space at the end");
  });
  if (!source.text.empty() && !source.text.ends_with('\n')) report(lines, "no end of line");
  if (source.text.ends_with("\n\n")) report(lines, "empty lines at the end");
}

/// Whether the text names a folder that only one machine has. A name inside a longer path does not
/// count.
bool names_a_machine(std::string_view line) {
  for (const std::string_view folder : {"home", "root", "Users", "work"}) {
    const std::string path = "/" + std::string(folder) + "/";
    for (std::size_t at = line.find(path); at != line.npos; at = line.find(path, at + 1)) {
      const bool continues = at > 0 && (std::isalnum(static_cast<unsigned char>(line[at - 1])) ||
                                        is_one_of(line.substr(at - 1, 1), {".", "}", "*", "_"}));
      if (!continues) return true;
    }
  }
  return false;
}

void paths_belong_to_no_machine(const Source& source, Violations& violations) {
  check_lines(source, violations, [](std::string_view line) {
    return std::string(names_a_machine(line) ? line : "");
  });
}

/// Relies on the layout: a function outside of a class begins and ends in the first column.
void functions_fit_on_a_screen(const Source& source, Violations& violations) {
  if (!is_code(source.path)) return;
  int start = 0;
  for_each_line(source.text, [&](int number, std::string_view line) {
    if (line == "}" && number - start + 1 > function_lines_max) {
      violations.push_back({source.path, start, "more than 70 lines"});
    }
    const bool begins = !line.empty() && !is_one_of(line.substr(0, 1), {" ", "}", "#", "/", ")"});
    if (begins) start = number;
  });
}

/// A sentence has a subject. These words begin fragments, which lean on the name below them. No
/// line of a comment begins with them, not even in the middle of a sentence.
void comments_are_no_fragments(const Source& source, Violations& violations) {
  if (!is_code(source.path) && !is_script(source.path)) return;
  const std::string_view mark = is_code(source.path) ? "//" : "#";
  check_lines(source, violations, [&](std::string_view line) {
    const std::string_view text = trimmed(line);
    const std::string_view words =
        text.substr(std::min(text.find_first_not_of("/# "), text.size()));
    const bool is_fragment = words.starts_with("Of ") || words.starts_with("Likewise") ||
                             words.starts_with("That of ") || words.starts_with("Those of ") ||
                             words.starts_with("Whose ");
    return text.starts_with(mark) && is_fragment ? "a fragment without a subject" : "";
  });
}

/// Relies on the layout: a test begins in the first column. Its names may stand in the next line.
void tests_bear_names_of_one_style(const Source& source, Violations& violations) {
  if (!source.path.starts_with("tests/") || !is_code(source.path)) return;
  static const std::regex test(R"(\w+\(\s*[A-Z][A-Za-z0-9]*Test,\s*[A-Z][A-Za-z0-9]*[\s,)])");
  static const std::regex instance(R"(\w+\(\s*[A-Z][A-Za-z0-9]*[\s,)])");
  for_each_line(source.text, [&](int number, std::string_view line) {
    const auto is_named_as = [&](const std::regex& style) {
      const char* const end = source.text.data() + source.text.size();
      return std::regex_search(line.data(), end, style, std::regex_constants::match_continuous);
    };
    const std::string_view macro = line.substr(0, line.find('('));
    std::string_view what;
    if (is_one_of(macro, {"TEST", "TEST_F", "TEST_P", "TYPED_TEST", "TYPED_TEST_P"})) {
      if (!is_named_as(test)) what = "not named like TEST(ThingTest, DoesThis): ";
    } else if (macro.starts_with("INSTANTIATE_") && !is_named_as(instance)) {
      what = "its prefix is not named LikeThis: ";
    }
    if (!what.empty()) violations.push_back({source.path, number, fmt::format("{}{}", what, line)});
  });
}

/// Tests that may wait, because no time passes until what they wait for happens.
constexpr std::array<std::string_view, 3> tests_that_wait{
    // It gives up after an hour.
    "tests/gpu/device/hybrid/thread_world.hpp",
    // Python's condition waits for as long as it takes.
    "harness/client/python/tests/test_planted.py",
    // It puts waiting for an event in the place of the system's function.
    "tests/harness/client/cpp/planted_threads.cpp"};

/// A test waits for an event, or moves a clock. What it starts hangs without a time, as in pause().
void tests_do_not_sleep(const Source& source, Violations& violations) {
  const bool is_test =
      source.path.starts_with("tests/") || source.path.starts_with("harness/client/python/tests/");
  const bool is_program = is_code(source.path) || is_script(source.path) ||
                          is_one_of(extension(source.path), {".h", ".py"});
  const bool may_wait = std::ranges::find(tests_that_wait, source.path) != tests_that_wait.end();
  if (!is_test || !is_program || may_wait) return;
  // The words for sleeping in C++, Python, Perl and shells. They are composed, because this file is
  // checked as well.
  static const std::regex sleeping(R"(\b((u|nano|clock_nano)?s)"
                                   R"(leep(_for|_until)?|wait_(for|until)|select\(undef)\b)");
  check_lines(source, violations, [&](std::string_view line) -> std::string {
    const std::string_view text = trimmed(line);
    if (text.starts_with("//") || (!is_code(source.path) && text.starts_with('#'))) return {};
    // Looking for a part of each word first is much faster.
    if (first_part_of(line, {"leep", "wait_", "select("}).empty()) return {};
    std::cmatch word;
    std::regex_search(line.data(), line.data() + line.size(), word, sleeping);
    return word.str();
  });
}

constexpr std::array all_rules{
    Rule{"includes_point_down", includes_point_down},
    Rule{"folders_keep_their_order", folders_keep_their_order},
    Rule{"runs_name_no_backend", runs_name_no_backend},
    Rule{"harness_names_no_family", harness_names_no_family},
    Rule{"confined_headers_stay_home", confined_headers_stay_home},
    Rule{"headers_start_with_pragma_once", headers_start_with_pragma_once},
    Rule{"sources_include_their_header_first", sources_include_their_header_first},
    Rule{"namespaces_are_not_opened_to_all", namespaces_are_not_opened_to_all},
    Rule{"macros_bear_our_name", macros_bear_our_name},
    Rule{"lines_are_clean", lines_are_clean},
    Rule{"paths_belong_to_no_machine", paths_belong_to_no_machine},
    Rule{"functions_fit_on_a_screen", functions_fit_on_a_screen},
    Rule{"comments_are_no_fragments", comments_are_no_fragments},
    Rule{"tests_bear_names_of_one_style", tests_bear_names_of_one_style},
    Rule{"tests_do_not_sleep", tests_do_not_sleep},
};

/// An include of a file in another folder.
struct Arrow {
  std::string_view from;
  std::string_view to;
  std::string_view path;
  int line = 0;
};

std::string_view folder_of(std::string_view path) {
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

/// Returns one arrow for each pair of folders.
std::vector<Arrow> arrows_between_folders(std::span<const Source> sources, std::string_view tree) {
  const std::string inside = std::string(tree) + "/";
  std::vector<Arrow> arrows;
  for (const Source& source : sources) {
    if (!source.path.starts_with(inside)) continue;
    const std::string_view from = folder_of(source.path);
    for (const Include& include : includes(source)) {
      const std::string_view to = folder_of(include.name);
      if (!include.quoted || !include.name.starts_with(inside) || from == to) continue;
      const auto is_same = [&](const Arrow& arrow) { return arrow.from == from && arrow.to == to; };
      if (std::ranges::any_of(arrows, is_same)) continue;
      arrows.push_back({from, to, source.path, include.line});
    }
  }
  return arrows;
}

/// Whether arrows lead from one folder to another.
bool is_reached(std::string_view to, std::string_view from, const std::vector<Arrow>& arrows) {
  std::set<std::string_view> reached{from};
  for (std::size_t before = 0; before != reached.size();) {
    before = reached.size();
    for (const Arrow& arrow : arrows) {
      if (reached.contains(arrow.from)) reached.insert(arrow.to);
    }
  }
  return reached.contains(to);
}

bool is_text(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  return is_code(name) || is_script(name) ||
         is_one_of(extension(name), {".md", ".json", ".txt", ".py"}) ||
         is_one_of(name, {".clang-tidy", ".clang-format"});
}

void read_file(const std::filesystem::path& root,
               const std::filesystem::path& path,
               std::vector<Source>& sources) {
  if (!is_text(path)) return;
  std::ifstream file(path, std::ios::binary);
  sources.push_back({path.lexically_relative(root).generic_string(),
                     {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}});
}

}  // namespace

std::vector<Include> includes(const Source& source) {
  constexpr std::string_view directive = "#include ";
  std::vector<Include> found;
  if (!is_code(source.path)) return found;
  for_each_line(source.text, [&](int number, std::string_view line) {
    if (!line.starts_with(directive)) return;
    line.remove_prefix(directive.size());
    const std::size_t end = line.find_first_of("\">", 1);
    if (end == std::string_view::npos) return;
    found.push_back({number, line.substr(1, end - 1), line.front() == '"'});
  });
  return found;
}

std::span<const Room> rooms() {
  static const std::vector<Room> all = [] {
    std::vector<Room> rooms;
    for (const auto& [folder, below] : folders_below) {
      Room& room = rooms.emplace_back(Room{folder, {}});
      std::istringstream names{std::string(below)};
      for (std::string name; names >> name;) {
        room.below.push_back(std::string(folder.substr(0, folder.find('/'))) + '/' + name);
      }
    }
    return rooms;
  }();
  return all;
}

std::string_view room_of(std::string_view path) {
  const std::size_t first = path.find('/');
  if (first == path.npos || !is_one_of(path.substr(0, first), {"cases", "harness"})) return {};
  const std::size_t second = path.find('/', first + 1);
  return path.substr(0, second == path.npos ? first : second);
}

std::span<const Rule> rules() {
  return all_rules;
}

std::vector<Violation> circles_of_folders(std::span<const Source> sources, std::string_view tree) {
  const std::vector<Arrow> arrows = arrows_between_folders(sources, tree);
  Violations violations;
  for (const Arrow& arrow : arrows) {
    if (!is_reached(arrow.from, arrow.to, arrows)) continue;
    violations.push_back({std::string(arrow.path),
                          arrow.line,
                          std::string(arrow.from) + " includes " + std::string(arrow.to) +
                              ", from where includes lead back to it"});
  }
  return violations;
}

std::vector<Source> read_project(const std::filesystem::path& root) {
  namespace fs = std::filesystem;
  std::vector<Source> sources;
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file()) read_file(root, entry.path(), sources);
  }
  for (const char* folder : {"reference", "gpu", "harness", "cases", "tests", "reports", ".ci"}) {
    if (!fs::is_directory(root / folder)) continue;
    for (fs::recursive_directory_iterator it(root / folder), end; it != end; ++it) {
      if (it->is_directory() && it->path().filename().string().starts_with("run-")) {
        it.disable_recursion_pending();
      }
      if (it->is_regular_file()) read_file(root, it->path(), sources);
    }
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

}  // namespace rankcheck::tidy
