#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "harness/case/field.hpp"
#include "harness/case/fields.hpp"

namespace rankcheck::harness {

/// When a field of a value appears in its JSON.
enum class Presence : std::uint8_t {
  /// Always. JSON without the field is rejected.
  required,
  /// Always written. JSON without the field means the default.
  written,
  /// Left out if the field has its default.
  optional,
};

/// The class to which a pointer to a data member belongs.
template <class Pointer>
struct ClassOf;
template <class Class, class Value>
struct ClassOf<Value Class::*> {
  using Type = Class;
};

/// The field for a data member. read_value and write_value must support the member's type.
template <auto member, Presence presence = Presence::optional>
constexpr auto field(std::string_view field_name) {
  using Object = typename ClassOf<decltype(member)>::Type;
  return Field<Object>{
      .name = field_name,
      .write =
          [](std::string_view name, const Object& object, nlohmann::ordered_json& out) {
            if constexpr (presence == Presence::optional) {
              if (object.*member == Object{}.*member) return;
            }
            out[std::string(name)] = write_value(object.*member);
          },
      .read =
          [](std::string_view name, Fields& fields, Object& object) {
            if (presence == Presence::required) {
              fields.required(name, object.*member);
            } else {
              fields.optional(name, object.*member);
            }
          },
      .value = [](const Object& object) -> nlohmann::ordered_json {
        return write_value(object.*member);
      },
  };
}

/// The field for a number that must not be negative.
template <auto member, Presence presence = Presence::optional>
constexpr auto count_field(std::string_view field_name) {
  auto out = field<member, presence>(field_name);
  using Object = typename ClassOf<decltype(member)>::Type;
  out.read = [](std::string_view name, Fields& fields, Object& object) {
    field<member, presence>(name).read(name, fields, object);
    fields.require_at_least_0(name, static_cast<double>(object.*member));
  };
  return out;
}

/// Adds the object's fields to `out`, and returns it.
template <class Object>
nlohmann::ordered_json with_fields(std::span<const Field<Object>> table,
                                   const Object& object,
                                   nlohmann::ordered_json out = {}) {
  for (const Field<Object>& each : table) each.write(each.name, object, out);
  return out;
}

template <class Object>
void read_fields(std::span<const Field<Object>> table, Fields& fields, Object& object) {
  for (const Field<Object>& each : table) each.read(each.name, fields, object);
}

/// Reads an object that has no other fields. Returns its fields for further checks.
template <class Object>
Fields read_whole(std::span<const Field<Object>> table,
                  const nlohmann::json& value,
                  Object& object) {
  Fields fields(value);
  read_fields(table, fields, object);
  fields.reject_unknown();
  return fields;
}

}  // namespace rankcheck::harness
