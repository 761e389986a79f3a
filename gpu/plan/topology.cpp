#include "gpu/plan/topology.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace rankcheck::gpu::plan {

namespace {

[[noreturn]] void reject(std::string_view name, int line, const std::string& why) {
  throw std::invalid_argument("topology " + std::string(name) + ", line " + std::to_string(line) +
                              ": " + why);
}

LinkLevel parse_level(std::string_view name, int number, const std::string& line) {
  LinkLevel level;
  double microseconds = 0;
  double gigabytes_per_second = 0;
  std::istringstream fields(line);
  std::string rest;
  if (!(fields >> level.ranks >> level.link_class >> microseconds >> gigabytes_per_second) ||
      fields >> rest) {
    reject(
        name,
        number,
        "got " + line.substr(0, 60) + ", expected RANKS CLASS MICROSECONDS GIGABYTES_PER_SECOND");
  }
  if (!(microseconds >= 0) || !(gigabytes_per_second > 0)) {
    reject(name, number, "expected a latency of at least 0 and a bandwidth above 0");
  }
  level.latency_seconds = microseconds * 1e-6;
  level.bytes_per_second = gigabytes_per_second * 1e9;
  return level;
}

}  // namespace

std::size_t Topology::level_between(int a, int b) const {
  std::size_t level = 0;
  while (level + 1 < levels.size() && a / levels[level].ranks != b / levels[level].ranks) ++level;
  return level;
}

Topology parse_topology(std::string_view name, std::string_view text) {
  Topology topology{.name = std::string(name), .levels = {}};
  std::istringstream lines{std::string(text)};
  std::string line;
  int number = 0;
  while (std::getline(lines, line)) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    LinkLevel level = parse_level(name, number, line);
    const int inner = topology.levels.empty() ? 0 : topology.levels.back().ranks;
    if (inner == 0 ? level.ranks != 1 : level.ranks <= inner || level.ranks % inner != 0) {
      reject(name,
             number,
             inner == 0 ? "expected the first level to hold 1 rank"
                        : "expected a larger multiple of " + std::to_string(inner) + " ranks");
    }
    topology.levels.push_back(std::move(level));
  }
  if (topology.levels.empty()) reject(name, number, "expected at least one level");
  return topology;
}

}  // namespace rankcheck::gpu::plan
