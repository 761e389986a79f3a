#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/collectives/registry.hpp"
#include "reference/ptycho/registry.hpp"
#include "reference/spec/contract.hpp"
#include "reference/spec/scene.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/base/files.hpp"
#include "harness/case/family.hpp"

#include "tests/cases/families/inputs_page.hpp"

/// The pages INPUTS.md of the families and the clients for Python and C++ say again what contracts
/// and families say. They must say the same.
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

std::string source_text(const std::string& file) {
  return harness::read_file(std::filesystem::path(RANKCHECK_SOURCE_DIR) / file);
}

// --- the page of collectives, whose table describes the buffers for programs in other languages

/// Returns the words of the page for calls in place.
std::string in_place_of(const spec::Contract& contract) {
  switch (contract.in_place) {
    case spec::InPlace::none:
      return "no";
    case spec::InPlace::same:
      return "same";
    case spec::InPlace::send_within_recv:
      return "send in recv";
    case spec::InPlace::recv_within_send:
      return contract.in_place_overwrites ? "recv in send, overwrites" : "recv in send";
  }
  return {};
}

TEST(CollectivesPageTest, NamesEveryCollectiveAndHowItIsInPlace) {
  const std::string page = source_text("cases/families/collectives/INPUTS.md");
  Facts on_page;
  Strings differences;
  for (const Strings& cells : table_below(page, "## Buffers")) {
    ASSERT_GE(cells.size(), 4U) << cells.front();
    for (const std::string& name : names_in(cells.front())) {
      add_fact(name, cells[3], on_page, differences);
    }
  }
  Facts in_code;
  for (const reference::Collective& each : reference::collectives()) {
    in_code[std::string(each.contract.name)] = in_place_of(each.contract);
  }
  compare(on_page, in_code, differences);
  EXPECT_EQ(differences, Strings{});
}

// --- the page of operators

std::string page() {
  return source_text("cases/families/ptycho/INPUTS.md");
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

// --- the clients, which list fields of a case that every subject takes, and operators

/// Returns the words of a client's file between a beginning and the first end behind it, sorted,
/// without quotes and commas.
Strings words_between(std::string_view begin, std::string_view end, const std::string& file) {
  const std::string text = source_text("harness/client/" + file);
  const std::size_t first = text.find(begin);
  if (first == std::string::npos) return {};
  const std::size_t start = first + begin.size();
  Strings found(1);
  for (const char c : text.substr(start, text.find(end, start) - start) + ' ') {
    const bool is_part = c == '_' || (c >= 'a' && c <= 'z');
    if (is_part) found.back() += c;
    if (!is_part && !found.back().empty()) found.emplace_back();
  }
  found.pop_back();
  std::sort(found.begin(), found.end());
  return found;
}

/// Returns the fields of the operation's family that an implementation chooses whether to take, and
/// the given fields, which all families have. Reductions and strides are declared by each subject.
Strings fields_to_take(const std::string& operation, Strings names = {"offset"}) {
  for (const harness::FamilyField& each : harness::find_family(operation)->fields()) {
    const bool is_choice = each.role == harness::FieldRole::choice;
    const bool is_declared = each.json.name == "op" || each.json.name.ends_with("_stride");
    if (is_choice && !is_declared) names.emplace_back(each.json.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// A field that is missing there would never be drawn for a subject.
TEST(ClientFieldsTest, ClientsTakeTheFieldsOfTheFamilies) {
  EXPECT_EQ(words_between("\nFREE_FIELDS = [", "]", "python/rankcheck/subject.py"),
            fields_to_take("all_reduce", {"late", "offset"}));
  EXPECT_EQ(words_between("\nOPERATOR_FIELDS = [", "]", "python/rankcheck/operators.py"),
            fields_to_take("extract"));
  // It declares `late` beside `group`, for every subject.
  EXPECT_EQ(words_between("for (const char* any : {", "}", "cpp/rankcheck/detail/description.hpp"),
            fields_to_take("all_reduce"));
}

TEST(ClientFieldsTest, PythonKnowsTheOperators) {
  Strings names;
  for (const reference::PtychoOperator& each : reference::ptycho()) {
    names.emplace_back(each.contract.name);
  }
  EXPECT_EQ(words_between("\nOPERATORS = \"\"\"", "\"\"\"", "python/rankcheck/operators.py"),
            names);
}

}  // namespace
}  // namespace rankcheck::cases
