#include "harness/suite_file.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "harness/fields.hpp"

namespace rankcheck::harness {

namespace {

using nlohmann::json;

void read_range(Fields& fields, SuiteEntry& entry) {
  std::vector<int> ranks{entry.ranks_min, entry.ranks_max};
  fields.optional("ranks", ranks);
  if (ranks.size() != 2 || ranks[0] < 1 || ranks[1] < ranks[0]) {
    fields.fail("ranks", "expected [least, most] with 1 <= least <= most");
  }
  entry.ranks_min = ranks[0];
  entry.ranks_max = ranks[1];
}

SuiteEntry entry_from_json(const json& value, const std::string& place) {
  Fields fields(value, place);
  SuiteEntry entry;
  fields.optional("family", entry.family);
  fields.optional("operation", entry.operation);
  fields.optional("algorithm", entry.algorithm);
  fields.optional("property", entry.property);
  fields.optional("variant", entry.variant);
  // It becomes part of the names of checks.
  const bool is_name = std::all_of(entry.variant.begin(), entry.variant.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_name) fields.fail("variant", "expected lower case letters, digits and _");
  fields.required("backends", entry.backends);
  if (entry.backends.empty()) fields.fail("backends", "expected at least one name");
  fields.optional("cases", entry.cases);
  if (entry.cases < 1) fields.fail("cases", "expected a number above 0");
  read_range(fields, entry);
  fields.optional("types", entry.types);
  fields.optional("require_all_cells", entry.require_all_cells);
  fields.optional("require", entry.require);
  fields.optional("ranks_required", entry.ranks_required);
  if (entry.ranks_required && *entry.ranks_required < 1) {
    fields.fail("ranks_required", "expected a number above 0");
  }
  fields.reject_unknown();
  return entry;
}

/// A collective on one rank moves nothing; operators compute on any number.
int ranks_required(const SuiteEntry& entry, const spec::Contract& contract) {
  const int usual = family(contract) == "collectives" ? 2 : 1;
  return entry.ranks_required.value_or(std::min(usual, entry.ranks_max));
}

/// What tells units apart, most significant first.
auto order_of(const Unit& unit) {
  return std::tuple(unit.pinned.empty(),
                    std::string_view(unit.operation),
                    std::string_view(unit.algorithm),
                    std::string_view(unit.backend),
                    std::string_view(unit.property),
                    std::string_view(unit.variant),
                    std::string_view(unit.pinned));
}

}  // namespace

Suite suite_from_text(const std::string& text, const std::string& place) {
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) throw BadInput(place + ": expected JSON");
  Fields fields(value, place);
  Suite suite;
  fields.required("name", suite.name);
  fields.required("summary", suite.summary);
  fields.optional("time_limit_s", suite.time_limit_s);
  if (!(suite.time_limit_s >= 0)) fields.fail("time_limit_s", "expected seconds >= 0");
  fields.optional("cycles", suite.cycles);
  const json& entries = fields.at("entries");
  if (!entries.is_array() || entries.empty()) {
    fields.fail("entries", "expected a list with at least one entry");
  }
  for (std::size_t i = 0; i < entries.size(); ++i) {
    suite.entries.push_back(entry_from_json(entries[i], fmt::format("{}: entries[{}]", place, i)));
  }
  fields.reject_unknown();
  return suite;
}

bool matches(const std::string& pattern, std::string_view text) {
  return ::fnmatch(pattern.c_str(), std::string(text).c_str(), 0) == 0;
}

std::size_t expand(const SuiteEntry& entry,
                   const Catalogue& catalogue,
                   const std::string& backend,
                   std::span<const AlgorithmInfo> algorithms,
                   std::vector<Unit>& units) {
  std::size_t selected = 0;
  for (const AlgorithmInfo& algorithm : algorithms) {
    const Operation* operation = catalogue.find(algorithm.operation);
    if (operation == nullptr || !matches(entry.family, family(operation->contract)) ||
        !matches(entry.operation, algorithm.operation) ||
        !matches(entry.algorithm, algorithm.name)) {
      continue;
    }
    for (const Property& property : operation->properties) {
      if (!matches(entry.property, property.name)) continue;
      ++selected;
      Unit unit{
          .operation = algorithm.operation,
          .algorithm = algorithm.name,
          .backend = backend,
          .property = std::string(property.name),
          .cases = entry.cases,
          .ranks_min = entry.ranks_min,
          .ranks_max = entry.ranks_max,
          .types = entry.types,
          .require_all_cells = entry.require_all_cells,
          .require = entry.require,
          .ranks_required = ranks_required(entry, operation->contract),
          .pinned = {},
          .variant = entry.variant,
      };
      const auto same = std::find_if(units.begin(), units.end(), [&](const Unit& each) {
        return order_of(each) == order_of(unit);
      });
      if (same == units.end()) {
        units.push_back(std::move(unit));
      } else {
        *same = std::move(unit);
      }
    }
  }
  return selected;
}

void sort_units(std::vector<Unit>& units) {
  std::sort(units.begin(), units.end(), [&](const Unit& a, const Unit& b) {
    return order_of(a) < order_of(b);
  });
}

void sort_findings(std::vector<Finding>& findings) {
  std::sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    return order_of(a.unit) < order_of(b.unit);
  });
}

}  // namespace rankcheck::harness
