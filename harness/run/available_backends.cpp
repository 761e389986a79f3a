#include "harness/run/available_backends.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "harness/base/nearest.hpp"

namespace rankcheck::harness::run {

const BackendEntry* AvailableBackends::find_entry(std::string_view name) const {
  const auto found =
      std::ranges::find_if(entries_, [&](const BackendEntry& entry) { return entry.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

const UserPrograms* AvailableBackends::find_programs(std::string_view name) const {
  const auto found = std::ranges::find_if(
      programs_, [&](const UserPrograms& each) { return name.starts_with(each.prefix); });
  return found == programs_.end() ? nullptr : &*found;
}

std::vector<NamedBackend> AvailableBackends::known() const {
  std::vector<NamedBackend> all;
  for (const BackendEntry& entry : entries_) {
    all.push_back({entry.name, entry.summary, entry.why_unavailable()});
    if (!all.back().unavailable.empty() && entry.compiled != nullptr) {
      all.back().compiled = entry.compiled();
    }
  }
  return all;
}

NamedBackend AvailableBackends::find(const std::string& name) const {
  if (const UserPrograms* programs = find_programs(name)) {
    const std::string what = name.substr(programs->prefix.size());
    return {name, programs->summary, programs->why_unavailable(what)};
  }
  if (const BackendEntry* entry = find_entry(name)) {
    return {entry->name, entry->summary, entry->why_unavailable()};
  }
  std::vector<std::string> names;
  for (const BackendEntry& entry : entries_) names.push_back(entry.name);
  std::string kinds;
  for (const UserPrograms& each : programs_) kinds += each.prefix + each.placeholder + ", ";
  throw BadInput(
      fmt::format("backend: {:.60}: is unknown, expected {}or a backend of 'rankcheck list'{}",
                  name,
                  kinds,
                  did_you_mean(name, names)));
}

void AvailableBackends::require(const std::string& name) const {
  const NamedBackend backend = find(name);
  if (backend.unavailable.empty()) return;
  throw BadInput(fmt::format("backend: {}: cannot run here: {}", name, backend.unavailable));
}

std::string AvailableBackends::name_of_subject(const std::string& command,
                                               std::string own,
                                               const std::set<std::string>& taken) const {
  const std::string builtin = stands_for(command);
  if (!builtin.empty() && !taken.contains(builtin)) return builtin;
  // The parts of an id are separated by slashes, and tables by spaces.
  const auto separates = [](unsigned char each) { return std::isgraph(each) == 0 || each == '/'; };
  std::ranges::replace_if(own, separates, '-');
  if (own.empty()) own = "unnamed";
  std::string name = own;
  for (int number = 2; find_entry(name) != nullptr || taken.contains(name); ++number) {
    name = fmt::format("{}-{}", own, number);
  }
  return name;
}

std::string AvailableBackends::stands_for(std::string_view name) const {
  const UserPrograms* programs = find_programs(name);
  return programs == nullptr ? "" : programs->stands_for;
}

int AvailableBackends::ranks_to_start(std::string_view name) const {
  if (const UserPrograms* programs = find_programs(name)) return programs->ranks_max;
  const BackendEntry* entry = find_entry(name);
  return entry == nullptr ? 0 : entry->ranks_max;
}

bool AvailableBackends::takes_jobs(std::string_view name) const {
  const UserPrograms* programs = find_programs(name);
  return programs == nullptr || !programs->is_single;
}

std::unique_ptr<Backend> AvailableBackends::open(const std::string& name,
                                                 const BackendOptions& options) const {
  require(name);
  const int most = ranks_to_start(name);
  if (most > 0) require_ranks(name, options.ranks_max, most);
  if (const UserPrograms* programs = find_programs(name)) {
    return programs->open(name.substr(programs->prefix.size()), options);
  }
  return find_entry(name)->open(options);
}

void require_ranks(std::string_view backend, int ranks, int ranks_max) {
  if (ranks <= ranks_max) return;
  throw BadInput(
      fmt::format("backend {}: {} ranks: expected at most {}", backend, ranks, ranks_max));
}

}  // namespace rankcheck::harness::run
