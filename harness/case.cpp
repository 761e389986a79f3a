#include "harness/case.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include <nlohmann/json.hpp>

#include "harness/fields.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::array<std::string_view, 7> input_kind_names{
    "exact", "coded", "general", "cancelling", "wide_range", "special", "previous"};
constexpr std::array<std::string_view, 3> pattern_names{"ring", "pairs", "self"};
constexpr std::array<std::string_view, 5> scan_names{
    "scattered", "whole", "coincident", "bordering", "overhanging"};
constexpr auto array_names = [] {
  std::array<std::string_view, spec::array_kinds> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = spec::array_table[i].name;
  return names;
}();

template <class Names>
std::string listed(const Names& names) {
  std::string text;
  for (const std::string_view each : names) {
    if (!text.empty()) text += ", ";
    text += each;
  }
  return text;
}

template <class Enum, class Names>
void read_enum(const json& value, const Names& names, Enum& out) {
  const auto found = value.is_string()
                         ? std::find(names.begin(), names.end(), value.get<std::string>())
                         : names.end();
  if (found == names.end()) expected("one of " + listed(names), value);
  out = static_cast<Enum>(found - names.begin());
}

using harness::read_value;

void read_value(const json& value, InputKind& out) {
  read_enum(value, input_kind_names, out);
}
void read_value(const json& value, spec::Pattern& out) {
  read_enum(value, pattern_names, out);
}
void read_value(const json& value, Scan& out) {
  read_enum(value, scan_names, out);
}
void read_value(const json& value, spec::Array& out) {
  read_enum(value, array_names, out);
}
void read_value(const json& value, spec::ReduceOp& out) {
  read_enum(value, spec::reduce_op_names, out);
}

template <class Value>
const Value& write(const Value& value) {
  return value;
}
std::string_view write(const InputKind& kind) {
  return name(kind);
}
std::string_view write(const Scan& scan) {
  return name(scan);
}
std::string_view write(const spec::Array& array) {
  return spec::name(array);
}
std::string_view write(const spec::Pattern& pattern) {
  return pattern_names[static_cast<std::size_t>(pattern)];
}
std::string_view write(const spec::ReduceOp& op) {
  return spec::name(op);
}
std::string_view write(const spec::Type& type) {
  return spec::name(type);
}

/// One field of a case: how it is read and written.
struct Field {
  std::string_view name;
  void (*write)(std::string_view name, const Case& c, ordered_json& out);
  void (*read)(const json& value, Case& c);
};

enum class Written { always, unless_default };

template <auto member, Written written = Written::unless_default>
constexpr Field field(std::string_view name) {
  return {
      name,
      [](std::string_view key, const Case& c, ordered_json& out) {
        if (written == Written::always || !(c.*member == Case{}.*member)) {
          out[std::string(key)] = harness::write(c.*member);
        }
      },
      [](const json& value, Case& c) { read_value(value, c.*member); },
  };
}

/// A size of the scene.
template <auto member>
constexpr Field scene_field(std::string_view name) {
  return {
      name,
      [](std::string_view key, const Case& c, ordered_json& out) {
        if (!(c.scene.*member == spec::Scene{}.*member)) out[std::string(key)] = c.scene.*member;
      },
      [](const json& value, Case& c) { read_value(value, c.scene.*member); },
  };
}

constexpr std::array fields{
    field<&Case::operation, Written::always>("operation"),
    field<&Case::algorithm>("algorithm"),
    field<&Case::backend, Written::always>("backend"),
    field<&Case::property>("property"),
    field<&Case::ranks, Written::always>("ranks"),
    field<&Case::group>("group"),
    field<&Case::root>("root"),
    field<&Case::count>("count"),
    field<&Case::counts>("counts"),
    field<&Case::gap>("gap"),
    field<&Case::type, Written::always>("type"),
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

ordered_json to_json(const Case& c) {
  ordered_json out = ordered_json::object();
  for (const Field& each : fields) each.write(each.name, c, out);
  return out;
}

std::string to_text(const Case& c) {
  return to_json(c).dump();
}

Case case_from_json(const json& value) {
  Case c;
  Fields object(value, "case");
  for (const Field& each : fields) {
    const json* found = object.find(each.name);
    if (found == nullptr) continue;
    try {
      each.read(*found, c);
    } catch (const BadInput& bad) {
      object.fail(each.name, bad.what());
    }
  }
  object.reject_unknown();
  static_cast<void>(object.at("operation"));
  static_cast<void>(object.at("ranks"));
  return c;
}

Case case_from_text(const std::string& text) {
  std::set<std::string> seen;
  const auto refuse = [&](int depth, json::parse_event_t event, json& parsed) {
    // Nothing in a case lies deeper; deep text would be printed with as deep a recursion.
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
  }
}

}  // namespace rankcheck::harness
