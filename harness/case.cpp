#include "harness/case.hpp"

#include <array>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

#include "harness/field_table.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// A field of the case that is a member of its scene.
template <auto member>
constexpr Field<Case> scene_field(std::string_view field_name) {
  return {
      .name = field_name,
      .write =
          [](std::string_view name, const Case& c, ordered_json& out) {
            if (c.scene.*member == spec::Scene{}.*member) return;
            out[std::string(name)] = write_value(c.scene.*member);
          },
      .read = [](std::string_view name,
                 Fields& fields,
                 Case& c) { fields.optional(name, c.scene.*member); },
  };
}

constexpr std::array case_fields{
    field<&Case::operation, Presence::required>("operation"),
    field<&Case::algorithm>("algorithm"),
    field<&Case::backend, Presence::written>("backend"),
    field<&Case::property>("property"),
    field<&Case::ranks, Presence::required>("ranks"),
    field<&Case::group>("group"),
    field<&Case::root>("root"),
    field<&Case::count>("count"),
    field<&Case::counts>("counts"),
    field<&Case::gap>("gap"),
    field<&Case::type, Presence::written>("type"),
    field<&Case::op>("op"),
    field<&Case::pattern>("pattern"),
    field<&Case::shift>("shift"),
    scene_field<&spec::Scene::rows>("rows"),
    scene_field<&spec::Scene::cols>("cols"),
    scene_field<&spec::Scene::window>("window"),
    scene_field<&spec::Scene::detector>("detector"),
    scene_field<&spec::Scene::modes>("modes"),
    scene_field<&spec::Scene::slices>("slices"),
    scene_field<&spec::Scene::varying_probe>("varying_probe"),
    scene_field<&spec::Scene::tile_cols>("tile_cols"),
    scene_field<&spec::Scene::halo>("halo"),
    scene_field<&spec::Scene::wavelength>("wavelength"),
    scene_field<&spec::Scene::distance>("distance"),
    field<&Case::scan>("scan"),
    field<&Case::in_place>("in_place"),
    field<&Case::offset>("offset"),
    field<&Case::chunk>("chunk"),
    field<&Case::input>("input"),
    field<&Case::data_seed>("data_seed"),
    field<&Case::rotate>("rotate"),
    field<&Case::first_index>("first_index"),
    field<&Case::index_stride>("index_stride"),
    field<&Case::scale>("scale"),
    field<&Case::added_seed>("added_seed"),
    field<&Case::varied>("varied"),
    field<&Case::halvings>("halvings"),
    field<&Case::form>("form"),
    field<&Case::chained>("chained"),
    field<&Case::moved>("moved"),
    field<&Case::schedule>("schedule"),
    field<&Case::fault>("fault"),
};

}  // namespace

std::vector<int> members(const Case& c) {
  if (!c.group.empty()) return c.group;
  std::vector<int> all(static_cast<std::size_t>(c.ranks > 0 ? c.ranks : 0));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int group_size(const Case& c) {
  return c.group.empty() ? c.ranks : static_cast<int>(c.group.size());
}

spec::Call call_of(const Case& c) {
  return {
      .ranks = group_size(c),
      .root = c.root,
      .type = c.type,
      .op = c.op,
      .count = c.count,
      .counts = c.counts,
      .gap = c.gap,
      .pattern = c.pattern,
      .shift = c.shift,
      .scene = c.scene,
  };
}

std::string_view name(InputKind kind) {
  return input_kind_names[static_cast<std::size_t>(kind)];
}

std::string_view name(Scan scan) {
  return scan_names[static_cast<std::size_t>(scan)];
}

std::string_view name(Form form) {
  return form_names[static_cast<std::size_t>(form)];
}

ordered_json to_json(const Case& c) {
  ordered_json out = ordered_json::object();
  write_fields<Case>(case_fields, c, out);
  return out;
}

std::string to_text(const Case& c) {
  return to_json(c).dump();
}

Case case_from_json(const json& value) {
  Case c;
  Fields fields(value, "case");
  read_fields<Case>(case_fields, fields, c);
  fields.reject_unknown();
  return c;
}

Case case_from_text(const std::string& text) {
  std::set<std::string> seen;
  const auto refuse = [&](int depth, json::parse_event_t event, json& parsed) {
    // A case has no deeper values. Printing deep text would recurse as deeply.
    if (depth > 8) throw BadInput("case: expected a JSON object of plain fields, got deep nesting");
    if (depth == 1 && event == json::parse_event_t::key &&
        !seen.insert(parsed.get<std::string>()).second) {
      throw BadInput("case: " + parsed.get<std::string>() + ": expected once, got it twice");
    }
    return true;
  };
  try {
    return case_from_json(json::parse(text, refuse));
  } catch (const json::parse_error& error) {
    throw BadInput("case: not JSON at byte " + std::to_string(error.byte) + ": " +
                   text.substr(0, 80));
  } catch (const json::out_of_range&) {
    throw BadInput("case: expected numbers of at most 1.8e308");
  }
}

}  // namespace rankcheck::harness
