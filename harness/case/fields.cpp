#include "harness/case/fields.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/nearest.hpp"

namespace rankcheck::harness {

using nlohmann::json;
using nlohmann::ordered_json;

void expected(std::string_view what, const json& got) {
  std::string text = got.dump();
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  throw BadInput(fmt::format("got {1}, expected {0}", what, text));
}

std::size_t read_name(const json& value, std::span<const std::string_view> names) {
  const auto found = value.is_string()
                         ? std::ranges::find(names, value.get_ref<const std::string&>())
                         : names.end();
  if (found == names.end()) expected(fmt::format("one of {}", fmt::join(names, ", ")), value);
  return spec::to_size(found - names.begin());
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
    expected(R"(a number, "inf", "-inf" or "nan")", value);
  }
}

void read_value(const json& value, spec::Type& out) {
  std::vector<std::string_view> names;
  for (const spec::TypeInfo& each : spec::type_table) names.push_back(each.name);
  out = static_cast<spec::Type>(read_name(value, names));
}
void read_value(const json& value, InputKind& out) {
  out = static_cast<InputKind>(read_name(value, input_kind_names));
}
void read_value(const json& value, Verdict& out) {
  out = static_cast<Verdict>(read_name(value, verdict_names));
}
void read_value(const json& value, Symptom& out) {
  out = static_cast<Symptom>(read_name(value, symptom_names));
}

void read_value(const json& value, Case& out) {
  out = case_from_json(value);
}

ordered_json write_value(double value) {
  if (std::isfinite(value)) return value;
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

ordered_json write_value(const std::vector<double>& values) {
  ordered_json out = ordered_json::array();
  for (const double each : values) out.push_back(write_value(each));
  return out;
}

ordered_json write_value(const Case& value) {
  return to_json(value);
}

Fields::Fields(const json& object, std::string place) : json_(object), place_(std::move(place)) {
  if (!place_.empty()) place_ += ": ";
  if (object.is_object()) return;
  try {
    expected("a JSON object", object);
  } catch (const BadInput& bad) {
    throw BadInput(place_ + bad.what());
  }
}

const json* Fields::find(std::string_view name) {
  known_.push_back(name);
  const auto found = json_.find(std::string(name));
  return found == json_.end() ? nullptr : &*found;
}

const json& Fields::at(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr) fail(name, "the field is missing, expected a value");
  return *value;
}

void Fields::require_at_least_0(std::string_view name, double value) const {
  if (!(value >= 0)) fail(name, fmt::format("got {}, expected a number of at least 0", value));
}

void Fields::reject_unknown() const {
  for (const auto& [key, value] : json_.items()) {
    if (std::ranges::find(known_, key) == known_.end()) {
      fail(key.substr(0, 60), "unknown field" + did_you_mean(key, {known_.begin(), known_.end()}));
    }
  }
}

void Fields::fail(std::string_view field, std::string_view what) const {
  throw BadInput(fmt::format("{}{}: {}", place_, field, what));
}

}  // namespace rankcheck::harness
