#include "harness/case/case.hpp"

#include <array>
#include <numeric>
#include <set>
#include <span>

#include <nlohmann/json.hpp>

#include "reference/spec/to_size.hpp"

#include "harness/case/case_field.hpp"
#include "harness/case/family.hpp"
#include "harness/case/field_table.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// What an earlier call takes from its case.
constexpr std::array<std::string_view, 4> shared_fields{"backend", "property", "ranks", "hosts"};

ordered_json write_earlier(const Case& c) {
  ordered_json calls = ordered_json::array();
  for (const Case& call : c.earlier) {
    ordered_json& written = calls.emplace_back(to_json(call));
    for (const std::string_view each : shared_fields) written.erase(std::string(each));
  }
  return calls;
}

/// Reads the calls of a case whose other fields are read already.
void read_earlier(std::string_view name, Fields& fields, Case& c) {
  const json* const calls = fields.find(name);
  if (calls == nullptr) return;
  if (!calls->is_array()) fields.fail(name, "expected a list of calls");
  for (json call : *calls) {
    const std::string place = "call " + std::to_string(c.earlier.size()) + ": ";
    try {
      for (const std::string_view each : shared_fields) {
        if (!call.is_object() || !call.contains(each)) continue;
        throw BadInput(std::string(each) + ": is that of the case, expected no value");
      }
      if (call.is_object()) call["ranks"] = c.ranks;
      c.earlier.push_back(case_from_json(call));
    } catch (const BadInput& bad) {
      fields.fail(name, place + bad.what());
    }
    c.earlier.back().backend = c.backend;
    c.earlier.back().hosts = c.hosts;
  }
}

constexpr Field<Case> earlier_field{
    .name = "earlier",
    .write =
        [](std::string_view name, const Case& c, ordered_json& out) {
          if (!c.earlier.empty()) out[std::string(name)] = write_earlier(c);
        },
    .read = read_earlier,
    .value = write_earlier,
};

constexpr std::array case_fields{
    field<&Case::operation, Presence::required>("operation"),
    field<&Case::algorithm>("algorithm"),
    field<&Case::backend, Presence::written>("backend"),
    field<&Case::property>("property"),
    field<&Case::ranks, Presence::required>("ranks"),
    field<&Case::group>("group"),
    field<&Case::hosts>("hosts"),
    field<&Case::count>("count"),
    field<&Case::counts>("counts"),
    field<&Case::type, Presence::written>("type"),
    field<&Case::in_place>("in_place"),
    field<&Case::offset>("offset"),
    field<&Case::chunk>("chunk"),
    field<&Case::pending>("pending"),
    field<&Case::late>("late"),
    field<&Case::overlaps>("overlaps"),
    field<&Case::frees>("frees"),
    field<&Case::input>("input"),
    field<&Case::data_seed>("data_seed"),
    field<&Case::rotate>("rotate"),
    field<&Case::scale>("scale"),
    field<&Case::added_seed>("added_seed"),
    field<&Case::schedule>("schedule"),
    field<&Case::fault>("fault"),
    earlier_field,
};

}  // namespace

const Field<Case>* find_field(std::string_view name, const Family* family) {
  for (const Field<Case>& each : case_fields) {
    if (each.name == name) return &each;
  }
  if (family == nullptr) return nullptr;
  for (const FamilyField& each : family->fields()) {
    if (each.json.name == name) return &each.json;
  }
  return nullptr;
}

std::vector<std::string> field_names(const Family* family) {
  std::vector<std::string> names;
  for (const Field<Case>& each : case_fields) names.emplace_back(each.name);
  if (family == nullptr) return names;
  for (const FamilyField& each : family->fields()) names.emplace_back(each.json.name);
  return names;
}

std::vector<int> members(const Case& c) {
  if (!c.group.empty()) return c.group;
  std::vector<int> all(spec::to_size(c.ranks > 0 ? c.ranks : 0));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int group_size(const Case& c) {
  return c.group.empty() ? c.ranks : static_cast<int>(c.group.size());
}

std::string_view name(InputKind kind) {
  return input_kind_names[spec::to_size(kind)];
}

ordered_json to_json(const Case& c) {
  const Family* const family = find_family(c.operation);
  const auto own = family == nullptr ? std::span<const FamilyField>() : family->fields();
  ordered_json out = ordered_json::object();
  for (const Field<Case>& common : case_fields) {
    for (const FamilyField& each : own) {
      if (each.before == common.name) each.json.write(each.json.name, c, out);
    }
    common.write(common.name, c, out);
  }
  return out;
}

std::string to_text(const Case& c) {
  return to_json(c).dump();
}

Case case_from_json(const json& value) {
  Case c;
  Fields fields(value, "case");
  read_fields<Case>(case_fields, fields, c);
  const Family* const family = find_family(c.operation);
  if (family == nullptr) return c;
  for (const FamilyField& each : family->fields()) each.json.read(each.json.name, fields, c);
  fields.reject_unknown();
  return c;
}

Case case_from_text(const std::string& text) {
  std::set<std::string> seen;
  const auto refuse = [&](int depth, json::parse_event_t event, json& parsed) {
    // A case has no deeper values. Printing deep text would recurse as deeply.
    if (depth > 8) throw BadInput("case: got deep nesting, expected a JSON object of plain fields");
    if (depth == 1 && event == json::parse_event_t::key &&
        !seen.insert(parsed.get<std::string>()).second) {
      throw BadInput("case: " + parsed.get<std::string>() + ": stands there twice, expected once");
    }
    return true;
  };
  try {
    return case_from_json(json::parse(text, refuse));
  } catch (const json::parse_error& error) {
    throw BadInput("case: not JSON at byte " + std::to_string(error.byte) + ": " +
                   text.substr(0, 80));
  } catch (const json::out_of_range&) {
    throw BadInput("case: a number is too large, expected at most 1.8e308");
  }
}

}  // namespace rankcheck::harness
