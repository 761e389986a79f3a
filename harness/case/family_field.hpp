#pragma once

#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "harness/case/case.hpp"
#include "harness/case/field_table.hpp"

namespace rankcheck::harness {

/// The JSON of a value in a family's part of a case. `At` has a type `Part` and a static function
/// `at(part)` that returns a reference to the value in a part.
template <class At>
constexpr Field<Case> part_field(std::string_view field_name) {
  using Part = typename At::Part;
  return {
      .name = field_name,
      .write =
          [](std::string_view name, const Case& c, nlohmann::ordered_json& out) {
            const auto& value = At::at(c.part.get<Part>());
            if (value != At::at(Part{})) out[std::string(name)] = write_value(value);
          },
      .read =
          [](std::string_view name, Fields& fields, Case& c) {
            auto value = At::at(std::as_const(c.part).template get<Part>());
            fields.optional(name, value);
            if (value != At::at(c.part.get<Part>())) At::at(c.part.edit<Part>()) = value;
          },
      .value = [](const Case& c) -> nlohmann::ordered_json {
        return write_value(At::at(c.part.get<Part>()));
      },
  };
}

/// For part_field(): a data member of a family's part.
template <auto member>
struct MemberOfPart {
  using Part = typename ClassOf<decltype(member)>::Type;
  static const auto& at(const Part& part) { return part.*member; }
  static auto& at(Part& part) { return part.*member; }
};

/// For part_field(): a data member of the member `outer` of a family's part.
template <auto outer, auto member>
struct InnerOfPart {
  using Part = typename ClassOf<decltype(outer)>::Type;
  static const auto& at(const Part& part) { return part.*outer.*member; }
  static auto& at(Part& part) { return part.*outer.*member; }
};

}  // namespace rankcheck::harness
