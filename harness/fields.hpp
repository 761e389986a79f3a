#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "harness/case.hpp"

namespace rankcheck::harness {

/// Throws BadInput "expected <what>, got <value>".
[[noreturn]] void expected(std::string_view what, const nlohmann::json& got);

void read_value(const nlohmann::json& value, bool& out);
void read_value(const nlohmann::json& value, std::string& out);
/// Also takes the strings "inf", "-inf" and "nan", which JSON has no numbers for.
void read_value(const nlohmann::json& value, double& out);

/// Takes the names of the element types.
void read_value(const nlohmann::json& value, spec::Type& out);

/// Whole numbers of any width; out of range is bad input.
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

/// A double as JSON: a number, or "inf", "-inf", "nan".
[[nodiscard]] nlohmann::ordered_json number_to_json(double value);

/// Reads the fields of one JSON object; every complaint names the place, the field and what was
/// expected.
class Fields {
 public:
  /// `object` must outlive this reader.
  Fields(const nlohmann::json& object, std::string place);

  /// Null where the field is left out; the field counts as known from now on.
  [[nodiscard]] const nlohmann::json* find(std::string_view name);
  /// Throws where the field is left out.
  [[nodiscard]] const nlohmann::json& at(std::string_view name);

  template <class Value>
  void required(std::string_view name, Value& out) {
    read(name, at(name), out);
  }

  /// Leaves `out` alone where the field is left out.
  template <class Value>
  void optional(std::string_view name, Value& out) {
    if (const nlohmann::json* value = find(name)) read(name, *value, out);
  }

  /// Throws when the object has a field that was never asked for.
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

  const nlohmann::json& object_;
  std::string place_;
  std::vector<std::string_view> known_;
};

}  // namespace rankcheck::harness
