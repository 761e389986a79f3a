#include "harness/case/hosts.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

std::vector<int> numbered(const std::vector<int>& hosts) {
  std::map<int, int> numbers;
  std::vector<int> out;
  for (const int host : hosts) {
    out.push_back(numbers.emplace(host, static_cast<int>(numbers.size())).first->second);
  }
  if (numbers.size() < 2) out.clear();
  return out;
}

std::vector<int> hosts_of_members(const Case& c) {
  std::vector<int> hosts;
  if (c.hosts.empty()) return hosts;
  for (const int rank : members(c)) hosts.push_back(c.hosts[spec::to_size(rank)]);
  return hosts;
}

std::vector<int> draw_hosts(RandomSource& random, int ranks) {
  constexpr std::int64_t hosts_max = 4;
  const std::int64_t hosts = random.between(2, std::min<std::int64_t>(hosts_max, ranks));
  std::vector<int> drawn(spec::to_size(ranks));
  for (int& host : drawn) host = static_cast<int>(random.below(hosts));
  // Most machines number the ranks of a host one behind another.
  if (random.below(2) == 0) std::ranges::sort(drawn);
  return numbered(drawn);
}

std::string why_hosts_invalid(const std::vector<int>& hosts, int ranks) {
  if (hosts.empty()) return {};
  if (static_cast<int>(hosts.size()) != ranks) {
    return fmt::format("hosts: got {}, expected one for each of {} ranks", hosts.size(), ranks);
  }
  if (hosts != numbered(hosts)) {
    return fmt::format(
        "hosts: got [{}], expected two hosts or more, numbered from 0 in the order in which they "
        "appear",
        fmt::join(hosts, ","));
  }
  return {};
}

}  // namespace rankcheck::harness
