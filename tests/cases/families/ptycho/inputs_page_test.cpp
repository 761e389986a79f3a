#include "tests/cases/families/inputs_page.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/registry.hpp"
#include "reference/spec/scene.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"

/// cases/families/ptycho/INPUTS.md describes every operator and array for programs in other
/// languages. Its tables must say what the contracts and the table of arrays say.
namespace rankcheck::cases {
namespace {

using tests::add_fact;
using tests::compare;
using tests::Facts;
using tests::joined;
using tests::names_in;
using tests::split;
using tests::Strings;
using tests::table_below;

std::string page() {
  return harness::read_file(std::filesystem::path(RANKCHECK_SOURCE_DIR) /
                            "cases/families/ptycho/INPUTS.md");
}

/// Returns the arrays of operation `index` of a row. A cell without semicolon holds for all
/// operations of its row.
std::string arrays_in(const std::string& cell, std::size_t index) {
  const Strings groups = split(cell, ";");
  return joined(names_in(groups.size() == 1 ? cell : groups.at(index)));
}

/// Returns the arrays of each operation that a page names.
Facts operators_on(std::string_view page, Strings& differences) {
  Facts facts;
  for (const Strings& cells : table_below(page, "## What operators do")) {
    const Strings names = names_in(cells.front());
    for (const std::size_t column : {1U, 2U}) {
      const std::size_t groups = cells.size() < 4 ? 0 : split(cells[column], ";").size();
      if (groups == 1 || groups == names.size()) continue;
      differences.push_back(cells.front() + " needs arrays for each of its operations");
      return facts;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      add_fact(
          names[i], arrays_in(cells[1], i) + " -> " + arrays_in(cells[2], i), facts, differences);
    }
  }
  return facts;
}

std::string names_of(const std::vector<spec::Array>& arrays) {
  Strings names;
  for (const spec::Array each : arrays) names.emplace_back(spec::name(each));
  return joined(names);
}

/// Returns the arrays of each operation by its contract.
Facts operators_by_contract() {
  Facts facts;
  for (const reference::PtychoOperator& each : reference::ptycho()) {
    const spec::OperatorTraits& traits = spec::ptycho(each.contract);
    facts[std::string(each.contract.name)] =
        names_of(traits.inputs) + " -> " + names_of(traits.outputs);
  }
  return facts;
}

Strings differences_of_operators(std::string_view page) {
  Strings differences;
  const Facts on_page = operators_on(page, differences);
  compare(on_page, operators_by_contract(), differences);
  return differences;
}

TEST(InputsPageTest, NamesTheArraysOfEveryOperator) {
  EXPECT_EQ(differences_of_operators(page()), Strings{});
}

/// The inputs of an array depend on its number.
TEST(InputsPageTest, NamesTheNumberOfEveryArray) {
  Facts on_page;
  Strings differences;
  for (const Strings& cells : table_below(page(), "## Arrays")) {
    // After each name stands a space, the number, and a comma or semicolon.
    const Strings parts = split(cells.front(), "`");
    for (std::size_t i = 1; i + 1 < parts.size(); i += 2) {
      const std::string& behind = parts[i + 1];
      add_fact(parts[i], behind.substr(1, behind.find_first_of(",;") - 1), on_page, differences);
    }
  }
  Facts in_code;
  for (const spec::ArrayInfo& each : spec::array_table) {
    if (each.array == spec::Array::none) continue;
    in_code[std::string(each.name)] = std::to_string(spec::to_size(each.array));
  }
  compare(on_page, in_code, differences);
  EXPECT_EQ(differences, Strings{});
}

TEST(InputsPageTest, EveryMistakeIsNamed) {
  const std::string row = "\n| `intensity` | `far_waves` | `frames` |";
  const std::string insert = "| `insert` | `patches`, `positions` |";
  struct Mistake {
    std::string old_text;
    std::string new_text;
    std::string difference;
  };
  for (const Mistake& each : std::vector<Mistake>{
           {row, "\n| no name | `far_waves` | `frames` |", "intensity has no row"},
           {row,
            "\n| `blur` | `frames` | `frames` | x |" + row,
            "blur has a row, but does not exist"},
           {row,
            "\n| `intensity` | `far_waves` | `frames` | x |" + row,
            "intensity stands in two rows"},
           {row,
            "\n| `intensity` | `waves`, `mask` | `cost` |",
            "intensity has waves, mask -> cost instead of far_waves -> frames"},
           {insert,
            "| `insert` | `positions`, `patches` |",
            "insert has positions, patches -> object instead of patches, positions -> object"}}) {
    const Strings parts = split(page(), each.old_text);
    ASSERT_EQ(parts.size(), 2U) << each.old_text;
    EXPECT_EQ(differences_of_operators(parts.front() + each.new_text + parts.back()),
              Strings{each.difference});
  }
}

}  // namespace
}  // namespace rankcheck::cases
