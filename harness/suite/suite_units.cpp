#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/case/family.hpp"
#include "harness/suite/suite_file.hpp"

namespace rankcheck::harness {

namespace {

int ranks_required(const SuiteEntry& entry, const spec::Contract& contract) {
  const int usual = family_of(contract).ranks_usual();
  return entry.ranks_required.value_or(std::min(usual, entry.ranks_max));
}

std::string variant_of(const SuiteEntry& entry) {
  if (entry.hosts.empty()) return entry.variant;
  return fmt::format(
      "{}{}hosts_{}", entry.variant, entry.variant.empty() ? "" : "_", fmt::join(entry.hosts, "_"));
}

/// What identifies units before their subject is known, most significant part first.
auto identity_of(const Unit& unit) {
  return std::tuple(std::string_view(unit.operation),
                    std::string_view(unit.algorithm),
                    std::string_view(unit.backend),
                    std::string_view(unit.property),
                    std::string_view(unit.variant),
                    std::string_view(unit.pinned));
}

/// Units on the same hosts stand together, because other hosts need other processes.
auto order_of(const Unit& unit) {
  return std::tuple(unit.pinned.empty(), unit.hosts, identity_of(unit));
}

}  // namespace

std::size_t expand(const SuiteEntry& entry,
                   const Catalogue& catalogue,
                   const std::string& backend,
                   std::span<const AlgorithmInfo> algorithms,
                   std::vector<Unit>& units) {
  std::size_t selected = 0;
  for (const AlgorithmInfo& algorithm : algorithms) {
    const Operation* operation = catalogue.find(algorithm.operation);
    if (operation == nullptr || !matches(entry.family, spec::family(operation->contract)) ||
        !matches(entry.operation, algorithm.operation) ||
        !matches(entry.algorithm, algorithm.name) ||
        (algorithm.needs_hosts && entry.hosts.empty())) {
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
          .variant = variant_of(entry),
          .count = entry.count,
          .blocks = entry.blocks,
          .hosts = entry.hosts,
      };
      const auto same = std::ranges::find_if(
          units, [&](const Unit& each) { return identity_of(each) == identity_of(unit); });
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
  std::ranges::sort(units, {}, [](const Unit& each) { return order_of(each); });
}

void sort_findings(std::vector<Finding>& findings) {
  std::ranges::sort(findings, {}, [](const Finding& each) { return order_of(each.unit); });
}

}  // namespace rankcheck::harness
