#include "harness/run/selection.hpp"

#include <array>
#include <string_view>

#include "harness/case/field_table.hpp"

namespace rankcheck::harness::run {

namespace {

/// The field for a list of patterns: one pattern is a text.
template <std::vector<std::string> Selection::*patterns>
constexpr Field<Selection> pattern_field(std::string_view field_name) {
  return {
      .name = field_name,
      .write =
          [](std::string_view name, const Selection& selection, nlohmann::ordered_json& out) {
            const std::vector<std::string>& all = selection.*patterns;
            if (all.size() == 1) out[std::string(name)] = all.front();
            if (all.size() > 1) out[std::string(name)] = all;
          },
      .read =
          [](std::string_view name, Fields& fields, Selection& selection) {
            const nlohmann::json* given = fields.find(name);
            if (given != nullptr && given->is_string()) {
              fields.required(name, (selection.*patterns).emplace_back());
            } else {
              fields.optional(name, selection.*patterns);
            }
          },
  };
}

constexpr std::array selection_fields{
    field<&Selection::suites>("suites"),
    pattern_field<&Selection::operations>("operation"),
    pattern_field<&Selection::algorithms>("algorithm"),
    pattern_field<&Selection::properties>("property"),
    field<&Selection::backends>("backends"),
    field<&Selection::ranks>("ranks"),
    field<&Selection::hosts>("hosts"),
    field<&Selection::types>("types"),
    field<&Selection::cases>("cases"),
    field<&Selection::require>("require"),
    field<&Selection::units>("units"),
    field<&Selection::ranks_required>("ranks_required"),
    field<&Selection::seed>("seed"),
    field<&Selection::devices>("devices"),
    field<&Selection::strict_known>("strict_known"),
};

}  // namespace

nlohmann::ordered_json to_json(const Selection& selection) {
  return with_fields<Selection>(selection_fields, selection, nlohmann::ordered_json::object());
}

Selection selection_from_json(const nlohmann::json& json, const std::string& place) {
  Fields fields(json, place);
  Selection selection;
  read_fields<Selection>(selection_fields, fields, selection);
  fields.reject_unknown();
  return selection;
}

}  // namespace rankcheck::harness::run
