#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"

namespace rankcheck::harness {

/// Throws BadInput "got <value>, expected <what>".
[[noreturn]] void expected(std::string_view what, const nlohmann::json& got);

void read_value(const nlohmann::json& value, bool& out);
void read_value(const nlohmann::json& value, std::string& out);
/// Also accepts the strings "inf", "-inf" and "nan", because JSON has no such numbers.
void read_value(const nlohmann::json& value, double& out);

/// Returns the index of the name among `names`. Throws BadInput if `value` is none of them. A type
/// with names has a read_value and a write_value in its own namespace.
[[nodiscard]] std::size_t read_name(const nlohmann::json& value,
                                    std::span<const std::string_view> names);

/// These read names.
void read_value(const nlohmann::json& value, spec::Type& out);
void read_value(const nlohmann::json& value, InputKind& out);
void read_value(const nlohmann::json& value, Verdict& out);
void read_value(const nlohmann::json& value, Symptom& out);

void read_value(const nlohmann::json& value, Case& out);

/// Reads a whole number of any width. Throws BadInput if it is out of the type's range.
template <class Integer>
requires std::is_integral_v<Integer>
void read_value(const nlohmann::json& value, Integer& out) {
  if (value.is_number_integer()) {
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<Integer>(value.get<std::uint64_t>())
                          : std::in_range<Integer>(value.get<std::int64_t>());
    if (fits) {
      out = value.get<Integer>();
      return;
    }
  }
  expected("a whole number in " + std::to_string(std::numeric_limits<Integer>::min()) + ".." +
               std::to_string(std::numeric_limits<Integer>::max()),
           value);
}

template <class Element>
void read_value(const nlohmann::json& value, std::vector<Element>& out) {
  if (!value.is_array()) expected("a list", value);
  out.clear();
  for (const nlohmann::json& element : value) read_value(element, out.emplace_back());
}

template <class Element>
void read_value(const nlohmann::json& value, std::optional<Element>& out) {
  read_value(value, out.emplace());
}

template <class Element>
void read_value(const nlohmann::json& value, std::map<std::string, Element>& out) {
  if (!value.is_object()) expected("an object", value);
  out.clear();
  for (const auto& [key, element] : value.items()) read_value(element, out[key]);
}

/// Writes what read_value accepts: a number, or "inf", "-inf" or "nan".
[[nodiscard]] nlohmann::ordered_json write_value(double value);
[[nodiscard]] nlohmann::ordered_json write_value(const std::vector<double>& values);
/// Writes what name() returns.
template <class Enum>
requires std::is_enum_v<Enum>
[[nodiscard]] nlohmann::ordered_json write_value(Enum value) {
  return name(value);
}

[[nodiscard]] nlohmann::ordered_json write_value(const Case& value);

/// Writes types that JSON has: whole numbers, bools, texts, and containers of these.
template <class Value>
requires std::is_constructible_v<nlohmann::ordered_json, const Value&> &&(!std::is_enum_v<Value>)
    [[nodiscard]] nlohmann::ordered_json write_value(const Value& value) {
  return value;
}

template <class Element>
requires std::is_class_v<Element> || std::is_enum_v<Element>
[[nodiscard]] nlohmann::ordered_json write_value(const std::vector<Element>& value) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Element& each : value) out.push_back(write_value(each));
  return out;
}

template <class Element>
[[nodiscard]] nlohmann::ordered_json write_value(const std::optional<Element>& value) {
  return write_value(*value);
}

/// Reads the fields of one JSON object. Every error names the place, the field and what was
/// expected.
class Fields {
 public:
  /// `object` must outlive this reader. `place` is empty if the object is itself a field, whose
  /// reader adds the name.
  explicit Fields(const nlohmann::json& object, std::string place = {});

  /// Returns null if the field is missing. The field counts as known from now on.
  [[nodiscard]] const nlohmann::json* find(std::string_view name);
  /// Throws BadInput if the field is missing.
  [[nodiscard]] const nlohmann::json& at(std::string_view name);

  template <class Value>
  void required(std::string_view name, Value& out) {
    read(name, at(name), out);
  }

  /// Leaves `out` unchanged if the field is missing.
  template <class Value>
  void optional(std::string_view name, Value& out) {
    if (const nlohmann::json* value = find(name)) read(name, *value, out);
  }

  /// Like required(), for a number that must not be negative.
  template <class Number>
  void at_least_0(std::string_view name, Number& out) {
    required(name, out);
    require_at_least_0(name, static_cast<double>(out));
  }
  /// Throws BadInput unless `value`, which was read from this field, is 0 or more.
  void require_at_least_0(std::string_view name, double value) const;

  /// Throws BadInput if the object has a field that was never asked for.
  void reject_unknown() const;
  /// Throws BadInput "<place>: <field>: <what>".
  [[noreturn]] void fail(std::string_view field, std::string_view what) const;

 private:
  template <class Value>
  void read(std::string_view name, const nlohmann::json& value, Value& out) {
    try {
      read_value(value, out);
    } catch (const BadInput& bad) {
      fail(name, bad.what());
    }
  }

  const nlohmann::json& json_;
  std::string place_;
  std::vector<std::string_view> known_;
};

}  // namespace rankcheck::harness
