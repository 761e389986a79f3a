#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/registry.hpp"

#include "harness/base/files.hpp"
#include "harness/case/family.hpp"

/// The clients for Python and C++ list fields of a case that every subject takes, and the names of
/// operators. A field that is missing there would never be drawn for a subject.
namespace rankcheck::cases {
namespace {

using Names = std::vector<std::string>;

std::string client_text(std::string_view file) {
  return harness::read_file(std::filesystem::path(RANKCHECK_SOURCE_DIR) / "harness/client" / file);
}

/// Returns the text between a beginning and the first end behind it.
std::string between(const std::string& text, std::string_view begin, std::string_view end) {
  const std::size_t start = text.find(begin);
  if (start == std::string::npos) return {};
  const std::size_t first = start + begin.size();
  return text.substr(first, text.find(end, first) - first);
}

/// Returns the words of a text, sorted, without quotes and commas.
Names words(const std::string& text) {
  Names found(1);
  for (const char c : text + ' ') {
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
Names fields_to_take(const std::string& operation, Names names = {"offset"}) {
  for (const harness::FamilyField& each : harness::find_family(operation)->fields()) {
    const bool is_choice = each.role == harness::FieldRole::choice;
    const bool is_declared = each.json.name == "op" || each.json.name.ends_with("_stride");
    if (is_choice && !is_declared) names.emplace_back(each.json.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(ClientFieldsTest, PythonTakesTheFieldsOfCollectives) {
  const std::string text = client_text("python/rankcheck/subject.py");
  EXPECT_EQ(words(between(text, "\nFREE_FIELDS = [", "]")),
            fields_to_take("all_reduce", {"late", "offset"}));
}

TEST(ClientFieldsTest, PythonTakesTheFieldsOfOperators) {
  const std::string text = client_text("python/rankcheck/operators.py");
  EXPECT_EQ(words(between(text, "\nOPERATOR_FIELDS = [", "]")), fields_to_take("extract"));
}

/// It declares `late` beside `group`, for every subject.
TEST(ClientFieldsTest, CppTakesTheFieldsOfCollectives) {
  const std::string text = client_text("cpp/rankcheck/detail/description.hpp");
  EXPECT_EQ(words(between(text, "for (const char* any : {", "}")), fields_to_take("all_reduce"));
}

TEST(ClientFieldsTest, PythonKnowsTheOperators) {
  Names names;
  for (const reference::PtychoOperator& each : reference::ptycho()) {
    names.emplace_back(each.contract.name);
  }
  const std::string text = client_text("python/rankcheck/operators.py");
  EXPECT_EQ(words(between(text, "\nOPERATORS = \"\"\"", "\"\"\"")), names);
}

}  // namespace
}  // namespace rankcheck::cases
