#include "harness/run/selection.hpp"

#include <utility>

#include "harness/case/fields.hpp"

namespace rankcheck::harness::run {

namespace {

template <class Value>
void write(nlohmann::ordered_json& out, const char* name, const std::optional<Value>& value) {
  if (value) out[name] = *value;
}

template <class Value>
void read(Fields& fields, const char* name, std::optional<Value>& value) {
  if (fields.find(name) == nullptr) return;
  Value given{};
  fields.required(name, given);
  value = std::move(given);
}

/// Writes one pattern as a text, and several as a list.
void write_patterns(nlohmann::ordered_json& out,
                    const char* name,
                    const std::vector<std::string>& patterns) {
  if (patterns.size() == 1) out[name] = patterns.front();
  if (patterns.size() > 1) out[name] = patterns;
}

void read_patterns(Fields& fields, const char* name, std::vector<std::string>& patterns) {
  const nlohmann::json* given = fields.find(name);
  if (given == nullptr) return;
  if (given->is_string()) {
    fields.required(name, patterns.emplace_back());
  } else {
    fields.required(name, patterns);
  }
}

}  // namespace

nlohmann::ordered_json to_json(const Selection& selection) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  if (!selection.suites.empty()) out["suites"] = selection.suites;
  write_patterns(out, "operation", selection.operations);
  write_patterns(out, "algorithm", selection.algorithms);
  write_patterns(out, "property", selection.properties);
  if (!selection.backends.empty()) out["backends"] = selection.backends;
  if (!selection.ranks.empty()) out["ranks"] = selection.ranks;
  if (!selection.hosts.empty()) out["hosts"] = selection.hosts;
  for (const spec::Type type : selection.types) out["types"].push_back(spec::name(type));
  write(out, "cases", selection.cases);
  if (!selection.require.empty()) out["require"] = selection.require;
  if (!selection.units.empty()) out["units"] = selection.units;
  write(out, "ranks_required", selection.ranks_required);
  write(out, "seed", selection.seed);
  write(out, "devices", selection.devices);
  write(out, "strict_known", selection.strict_known);
  return out;
}

Selection selection_from_json(const nlohmann::json& json, const std::string& place) {
  Fields fields(json, place);
  Selection selection;
  fields.optional("suites", selection.suites);
  read_patterns(fields, "operation", selection.operations);
  read_patterns(fields, "algorithm", selection.algorithms);
  read_patterns(fields, "property", selection.properties);
  fields.optional("backends", selection.backends);
  fields.optional("ranks", selection.ranks);
  fields.optional("hosts", selection.hosts);
  fields.optional("types", selection.types);
  read(fields, "cases", selection.cases);
  fields.optional("require", selection.require);
  fields.optional("units", selection.units);
  read(fields, "ranks_required", selection.ranks_required);
  read(fields, "seed", selection.seed);
  read(fields, "devices", selection.devices);
  read(fields, "strict_known", selection.strict_known);
  fields.reject_unknown();
  return selection;
}

void fill_defaults(Selection& selection) {
  if (!selection.seed) selection.seed = default_seed;
}

}  // namespace rankcheck::harness::run
