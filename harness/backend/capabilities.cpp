#include "harness/backend/capabilities.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "harness/base/hash.hpp"
#include "harness/case/family.hpp"
#include "harness/case/fields.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// The groups have their own rule.
constexpr std::array<std::string_view, 9> always_taken{"operation",
                                                       "property",
                                                       "backend",
                                                       "algorithm",
                                                       "ranks",
                                                       "group",
                                                       "count",
                                                       "counts",
                                                       "data_seed"};
constexpr std::array<std::string_view, 4> input_fields{"input", "rotate", "scale", "added_seed"};

/// Nobody draws these inputs: the output of a call, and what a user gave. Whoever gets inputs takes
/// them.
constexpr std::array<InputKind, 2> undrawn_inputs{InputKind::previous, InputKind::given};

constexpr std::array<std::string_view, 3> group_names{"any", "sorted", "world"};

/// The value of a field as a case writes it. Null if the case leaves the field out because the
/// value is the default. Throws BadInput if the field cannot have the value.
json as_written(std::string_view operation, const std::string& field, const json& value) {
  json asked{{"operation", operation}, {"ranks", 1}};
  asked[field] = value;
  const ordered_json written = to_json(case_from_json(asked));
  const auto found = written.find(field);
  return found == written.end() ? json() : json(*found);
}

bool is_undrawn_input(const std::string& field, const json& value) {
  return field == "input" &&
         std::ranges::any_of(undrawn_inputs, [&](InputKind each) { return value == name(each); });
}

/// Whether a case without parts of different sizes has a count. A barrier and operations on tiles
/// have none.
bool has_count(const Case& c) {
  const Family& family = *find_family(c.operation);
  Case counted = c;
  counted.count = 1;
  return c.counts.empty() && family.why_invalid(*family.find(c.operation), counted).empty();
}

}  // namespace

void read_value(const json& value, Capabilities::Groups& out) {
  out = static_cast<Capabilities::Groups>(read_name(value, group_names));
}

Capabilities::Capabilities(const std::string& operation, bool are_inputs_sent, const json& declared)
    : declared_(declared) {
  free_.assign(always_taken.begin(), always_taken.end());
  if (are_inputs_sent) {
    free_.insert(free_.end(), input_fields.begin(), input_fields.end());
    takes_undrawn_ = true;
  }
  for (const FamilyField& each : find_family(operation)->fields()) {
    const bool is_input = each.role == FieldRole::input && are_inputs_sent;
    if (is_input || each.role == FieldRole::size || each.role == FieldRole::program)
      free_.emplace_back(each.json.name);
  }
  Case plain;
  plain.operation = operation;
  defaults_ = to_json(plain);
  Fields fields(declared);
  fields.optional("group", groups_);
  fields.optional("empty", takes_empty_);
  if (const json* ranks = fields.find("ranks")) {
    Fields limits(*ranks, "ranks");
    limits.optional("min", ranks_min_);
    limits.optional("max", ranks_max_);
    limits.reject_unknown();
  }
  for (const auto& [field, value] : declared.items()) {
    if (field != "group" && field != "empty" && field != "ranks") {
      read_rule(operation, field, value);
    }
  }
}

void Capabilities::read_rule(std::string_view operation,
                             const std::string& field,
                             const json& declared) {
  if (declared == "any") {
    free_.push_back(field);
    return;
  }
  if (!declared.is_array() || declared.empty()) {
    throw BadInput(fmt::format("{}: expected \"any\" or a list of values", field));
  }
  Rule rule;
  for (const json& value : declared) {
    if (takes_undrawn_ && is_undrawn_input(field, value)) continue;
    json written = as_written(operation, field, value);
    if (written.is_null()) {
      rule.takes_default = true;
    } else {
      rule.values.push_back(std::move(written));
    }
  }
  std::erase(free_, field);
  rules_[field] = std::move(rule);
}

std::string Capabilities::why_field_refused(const std::string& field, const json& value) const {
  if (std::ranges::find(free_, field) != free_.end()) return {};
  if (takes_undrawn_ && is_undrawn_input(field, value)) return {};
  const auto found = rules_.find(field);
  if (found == rules_.end()) {
    const auto usual = defaults_.find(field);
    if (usual != defaults_.end() && *usual == value) return {};
    return fmt::format("{}: not offered, got {}", field, value.dump());
  }
  const std::vector<json>& values = found->second.values;
  if (std::ranges::find(values, value) != values.end()) return {};
  return fmt::format("{}: not offered with {}", field, value.dump());
}

std::string Capabilities::why_group_refused(const Case& c) const {
  const bool is_sorted = std::ranges::is_sorted(c.group);
  if (groups_ == Groups::sorted && !is_sorted) return "group: expected ascending ranks";
  const bool is_world = c.group.empty() || (is_sorted && group_size(c) == c.ranks);
  if (groups_ == Groups::world && !is_world) return "group: expected all ranks in order";
  return {};
}

std::string Capabilities::why_refused(const Case& c) const {
  const ordered_json written = to_json(c);
  for (const auto& [field, value] : written.items()) {
    if (std::string why = why_field_refused(field, value); !why.empty()) return why;
  }
  for (const auto& [field, rule] : rules_) {
    if (!rule.takes_default && !written.contains(field)) {
      return fmt::format("{}: not offered with its default", field);
    }
  }
  if (group_size(c) < ranks_min_ || group_size(c) > ranks_max_) {
    return fmt::format("ranks: expected {}..{} members", ranks_min_, ranks_max_);
  }
  if (std::string why = why_group_refused(c); !why.empty()) return why;
  if (takes_empty_) return {};
  const bool has_empty_part = std::ranges::find(c.counts, 0) != c.counts.end();
  const bool is_empty = c.count == 0 && has_count(c);
  return has_empty_part || is_empty ? "count: expected no empty part" : "";
}

void Capabilities::fit(Case& c) const {
  if (groups_ == Groups::sorted) std::ranges::sort(c.group);
  if (groups_ == Groups::world && !c.group.empty()) {
    c.ranks = group_size(c);
    c.group.clear();
  }
  if (!takes_empty_) {
    if (c.count == 0 && has_count(c)) c.count = 1;
    for (std::int64_t& each : c.counts) each = std::max<std::int64_t>(each, 1);
  }
  ordered_json written = to_json(c);
  const std::uint64_t choice = hash_of(written.dump());
  ordered_json fitting = written;
  for (const auto& [field, value] : written.items()) {
    if (!why_field_refused(field, value).empty()) fitting.erase(field);
  }
  for (const auto& [field, rule] : rules_) {
    if (fitting.contains(field)) continue;
    if (rule.takes_default && !written.contains(field)) continue;
    const std::size_t values = rule.values.size() + (rule.takes_default ? 1 : 0);
    const std::size_t chosen = spec::to_size(choice % values);
    if (chosen < rule.values.size()) fitting[field] = rule.values[chosen];
  }
  if (fitting != written) c = case_from_json(fitting);
}

}  // namespace rankcheck::harness
