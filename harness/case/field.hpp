#pragma once

#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace rankcheck::harness {

class Fields;

/// One field of an object: its name, how it is written and how it is read. A table of such fields
/// defines how a type is converted to JSON and back; see field_table.hpp.
template <class Object>
struct Field {
  std::string_view name;
  void (*write)(std::string_view name, const Object& object, nlohmann::ordered_json& out);
  void (*read)(std::string_view name, Fields& fields, Object& object);
  /// Returns the value as JSON, also if it is the default. May be null.
  nlohmann::ordered_json (*value)(const Object& object) = nullptr;
};

}  // namespace rankcheck::harness
