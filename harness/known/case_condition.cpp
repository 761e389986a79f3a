#include "harness/known/case_condition.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "harness/base/nearest.hpp"
#include "harness/case/case_field.hpp"
#include "harness/case/family.hpp"
#include "harness/case/fields.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// A number that no field of a case has.
constexpr std::string_view members_field = "members";

/// Throws BadInput unless the value can be read into the field.
void require_value_of(const Field<Case>& field, const json& value) {
  const json object{{std::string(field.name), value}};
  Fields fields(object);
  Case c;
  field.read(field.name, fields, c);
}

}  // namespace

ValueCondition::ValueCondition(const json& value) {
  if (!value.is_object()) {
    values_ = value.is_array() ? value.get<std::vector<json>>() : std::vector<json>{value};
    if (values_.empty()) throw BadInput("got [], expected at least one value");
    return;
  }
  Fields fields(value);
  constexpr std::array<std::pair<std::string_view, Kind>, 4> nested{
      {{"not", Kind::negated}, {"any", Kind::any}, {"each", Kind::each}, {"length", Kind::length}}};
  for (const auto& [name, kind] : nested) {
    const json* const inner = fields.find(name);
    if (inner == nullptr) continue;
    if (value.size() > 1) fields.fail(name, "expected no other field beside it");
    kind_ = kind;
    try {
      inner_ = std::make_shared<const ValueCondition>(*inner);
    } catch (const BadInput& bad) {
      fields.fail(name, bad.what());
    }
    return;
  }
  kind_ = Kind::range;
  if (fields.find("min") != nullptr) fields.required("min", min_.emplace());
  if (fields.find("max") != nullptr) fields.required("max", max_.emplace());
  fields.reject_unknown();
  if (!min_ && !max_) throw BadInput("got {}, expected min, max, not, any, each or length");
  if (min_ && max_ && !(*min_ <= *max_)) {
    throw BadInput(
        fmt::format("got min {} and max {}, expected min to be at most max", *min_, *max_));
  }
}

bool ValueCondition::holds(const ordered_json& value) const {
  const auto fits = [this](const auto& each) { return inner_->holds(each); };
  switch (kind_) {
    case Kind::values:
      return std::ranges::any_of(values_, [&](const json& each) { return json(value) == each; });
    case Kind::range:
      if (!value.is_number()) return false;
      return !(min_ && value.get<double>() < *min_) && !(max_ && value.get<double>() > *max_);
    case Kind::negated:
      return !inner_->holds(value);
    case Kind::any:
      return value.is_array() && std::ranges::any_of(value, fits);
    case Kind::each:
      return value.is_array() && !value.empty() && std::ranges::all_of(value, fits);
    case Kind::length:
      return value.is_array() && inner_->holds(value.size());
  }
  return false;
}

void ValueCondition::require_type(const ordered_json& example,
                                  const std::function<void(const json&)>& require) const {
  const auto require_list = [&](std::string_view word) {
    if (!example.is_array()) throw BadInput(fmt::format("{}: expected a field with a list", word));
  };
  switch (kind_) {
    case Kind::values:
      for (const json& each : values_) require(each);
      return;
    case Kind::range:
      if (!example.is_number()) throw BadInput("min and max: expected a field with a number");
      return;
    case Kind::negated:
      inner_->require_type(example, require);
      return;
    case Kind::any:
    case Kind::each:
      require_list(kind_ == Kind::any ? "any" : "each");
      // All lists of cases are lists of whole numbers.
      inner_->require_type(0, [&](const json& each) { require(json::array({each})); });
      return;
    case Kind::length:
      require_list("length");
      inner_->require_type(0, [](const json& each) {
        std::int64_t number = 0;
        read_value(each, number);
      });
      return;
  }
}

bool CaseCondition::holds(const Case& c, const Family* family) const {
  if (field == members_field) return value.holds(group_size(c));
  // A case without a group is made by the whole world.
  if (field == "group") return value.holds(members(c));
  const Field<Case>* const found = find_field(field, family);
  return found != nullptr && value.holds(found->value(c));
}

void require_sense(const CaseCondition& condition, const Family* family) {
  const std::string& name = condition.field;
  const Field<Case>* const found = find_field(name, family);
  if (found == nullptr && name != members_field) {
    std::vector<std::string> names = field_names(family);
    names.emplace_back(members_field);
    throw BadInput(
        fmt::format("{:.60}: unknown field of a case{}", name, did_you_mean(name, names)));
  }
  try {
    if (found == nullptr) {
      condition.value.require_type(1, [](const json& each) {
        int number = 0;
        read_value(each, number);
      });
    } else {
      condition.value.require_type(found->value(Case{}),
                                   [&](const json& each) { require_value_of(*found, each); });
    }
  } catch (const BadInput& bad) {
    const std::string what = bad.what();
    throw BadInput(what.starts_with(name + ": ") ? what : name + ": " + what);
  }
}

}  // namespace rankcheck::harness
