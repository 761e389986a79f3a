#include "harness/check/case_change.hpp"

#include <nlohmann/json.hpp>

#include "harness/base/table.hpp"
#include "harness/case/case_field.hpp"
#include "harness/case/family.hpp"
#include "harness/check/finding.hpp"

namespace rankcheck::harness {

namespace {

/// A list of counts may be long.
constexpr std::size_t value_bytes_max = 60;

std::string text_of(const nlohmann::ordered_json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  return shortened(text, value_bytes_max);
}

}  // namespace

std::vector<FieldChange> changes_between(const Case& before, const Case& after) {
  const Family* const family = find_family(before.operation);
  std::vector<FieldChange> changes;
  for (const std::string& name : field_names(family)) {
    const Field<Case>& field = *find_field(name, family);
    if (field.value == nullptr) continue;
    const nlohmann::ordered_json was = field.value(before);
    const nlohmann::ordered_json is = field.value(after);
    if (was != is) changes.push_back({name, text_of(was), text_of(is)});
  }
  return changes;
}

std::string step_text(const Case& before, const Case& after) {
  std::string text;
  for (const FieldChange& each : changes_between(before, after)) {
    if (!text.empty()) text += ", ";
    text += each.field + ' ' + each.before + " -> " + each.after;
  }
  return shortened(text, step_bytes_max);
}

}  // namespace rankcheck::harness
