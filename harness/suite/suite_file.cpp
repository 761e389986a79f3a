#include "harness/suite/suite_file.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>
#include <nlohmann/json.hpp>

#include "reference/spec/sizes.hpp"

#include "harness/base/json_text.hpp"
#include "harness/case/fields.hpp"
#include "harness/case/hosts.hpp"
#include "harness/case/strata.hpp"

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

void read_hosts(Fields& fields, SuiteEntry& entry) {
  fields.optional("hosts", entry.hosts);
  if (entry.hosts.empty()) return;
  if (fields.find("ranks") != nullptr) {
    fields.fail("ranks", "hosts say how many ranks there are, expected only one of them");
  }
  const int ranks = static_cast<int>(entry.hosts.size());
  const std::string why = why_hosts_invalid(entry.hosts, ranks);
  if (!why.empty()) fields.fail("hosts", why.substr(why.find(' ') + 1));
  entry.set_hosts(entry.hosts);
}

SuiteEntry entry_from_json(const json& value, const std::string& place) {
  Fields fields(value, place);
  SuiteEntry entry;
  fields.optional("family", entry.family);
  fields.optional("operation", entry.operation);
  fields.optional("algorithm", entry.algorithm);
  fields.optional("property", entry.property);
  fields.optional("variant", entry.variant);
  // The variant becomes part of the names of checks.
  const bool is_name = std::ranges::all_of(entry.variant, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_name)
    fields.fail("variant", "got other characters, expected lower case letters, digits and _");
  fields.required("backends", entry.backends);
  if (entry.backends.empty()) fields.fail("backends", "is empty, expected at least one name");
  fields.optional("cases", entry.cases);
  if (entry.cases < 0)
    fields.fail("cases", fmt::format("got {}, expected 0 or a larger number", entry.cases));
  read_range(fields, entry);
  read_hosts(fields, entry);
  fields.optional("types", entry.types);
  fields.optional("require_all_cells", entry.require_all_cells);
  fields.optional("require", entry.require);
  fields.optional("ranks_required", entry.ranks_required);
  if (entry.ranks_required && *entry.ranks_required < 1) {
    fields.fail("ranks_required", "expected a number above 0");
  }
  fields.optional("count", entry.count);
  const std::int64_t count_max = spec::buffer_elements_max / entry.ranks_min;
  const bool has_count = fields.find("count") != nullptr;
  if (has_count && (entry.count < 1 || entry.count > count_max)) {
    fields.fail(
        "count",
        fmt::format(
            "got {}, expected 1..{}, the elements of each rank's block", entry.count, count_max));
  }
  fields.optional("blocks", entry.blocks);
  std::vector<std::int64_t> sizes;
  for (const Stratum& each : strata) sizes.push_back(each.bytes);
  for (const std::int64_t bytes : entry.blocks) {
    if (std::ranges::count(sizes, bytes) > 0) continue;
    fields.fail("blocks",
                fmt::format("got {}, expected sizes among {}", bytes, fmt::join(sizes, ", ")));
  }
  fields.reject_unknown();
  return entry;
}

}  // namespace

void SuiteEntry::set_hosts(const std::vector<int>& new_hosts) {
  hosts = new_hosts;
  ranks_min = ranks_max = static_cast<int>(hosts.size());
}

Suite suite_from_text(const std::string& text, const std::string& place) {
  const json value = parse_json(text);
  if (value.is_discarded()) throw BadInput(place + ": " + why_not_json(text));
  Fields fields(value, place);
  Suite suite;
  fields.required("name", suite.name);
  fields.required("summary", suite.summary);
  fields.optional("time_limit_s", suite.time_limit_s);
  if (!(suite.time_limit_s >= 0)) fields.fail("time_limit_s", "expected seconds >= 0");
  fields.optional("cycles", suite.cycles);
  const json& entries = fields.at("entries");
  if (!entries.is_array() || entries.empty()) {
    fields.fail("entries", "is no list or is empty, expected at least one entry");
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

bool matches_any(std::span<const std::string> patterns, std::string_view text) {
  return patterns.empty() ||
         std::ranges::any_of(patterns, [&](const auto& each) { return matches(each, text); });
}

}  // namespace rankcheck::harness
