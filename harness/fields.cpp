#include "harness/fields.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace rankcheck::harness {

using nlohmann::json;

void expected(std::string_view what, const json& got) {
  std::string text = got.dump();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  throw BadInput(fmt::format("expected {}, got {}", what, text));
}

void read_value(const json& value, bool& out) {
  if (!value.is_boolean()) expected("true or false", value);
  out = value.get<bool>();
}

void read_value(const json& value, std::string& out) {
  if (!value.is_string()) expected("a string", value);
  out = value.get<std::string>();
}

void read_value(const json& value, double& out) {
  if (value.is_number()) {
    out = value.get<double>();
  } else if (value == "inf") {
    out = std::numeric_limits<double>::infinity();
  } else if (value == "-inf") {
    out = -std::numeric_limits<double>::infinity();
  } else if (value == "nan") {
    out = std::numeric_limits<double>::quiet_NaN();
  } else {
    expected("a number, \"inf\", \"-inf\" or \"nan\"", value);
  }
}

void read_value(const json& value, spec::Type& out) {
  const auto type =
      value.is_string() ? spec::type_named(value.get_ref<const std::string&>()) : std::nullopt;
  if (type) {
    out = *type;
    return;
  }
  std::vector<std::string_view> names;
  for (const spec::TypeInfo& entry : spec::type_table) names.push_back(entry.name);
  expected(fmt::format("one of {}", fmt::join(names, ", ")), value);
}

nlohmann::ordered_json number_to_json(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

Fields::Fields(const json& object, std::string place) : object_(object), place_(std::move(place)) {
  if (object.is_object()) return;
  try {
    expected("a JSON object", object);
  } catch (const BadInput& bad) {
    throw BadInput(place_ + ": " + bad.what());
  }
}

const json* Fields::find(std::string_view name) {
  known_.push_back(name);
  const auto found = object_.find(std::string(name));
  return found == object_.end() ? nullptr : &*found;
}

const json& Fields::at(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr) fail(name, "expected a value, but the field is missing");
  return *value;
}

void Fields::reject_unknown() const {
  for (const auto& [key, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      fail(key, fmt::format("unknown field: expected one of {}", fmt::join(known_, ", ")));
    }
  }
}

void Fields::fail(std::string_view field, std::string_view what) const {
  throw BadInput(fmt::format("{}: {}: {}", place_, field, what));
}

}  // namespace rankcheck::harness
