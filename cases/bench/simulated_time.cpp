#include "cases/bench/simulated_time.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/plan/timing.hpp"
#include "gpu/plan/topology.hpp"

#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/run/data_files.hpp"
#include "harness/run/option_values.hpp"
#include "harness/suite/suite_file.hpp"

#include "cases/bench/large_call.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases::bench {

namespace {

using harness::BadInput;
using harness::Case;

/// Plans of more steps are not timed, because each step takes about a hundred bytes of memory.
constexpr double steps_max = 3e7;

/// Finds a topology by its name or by the path of its file. Throws BadInput.
gpu::plan::Topology find_topology(const std::string& name) {
  std::map<std::string, std::filesystem::path> shipped;
  for (const auto& entry :
       std::filesystem::directory_iterator(harness::run::data_folder() / "gpu/plan/topologies")) {
    shipped[entry.path().stem()] = entry.path();
  }
  const auto found = shipped.find(name);
  if (found == shipped.end() && !std::filesystem::exists(name)) {
    std::vector<std::string> names;
    for (const auto& [each, path] : shipped) names.push_back(each);
    throw BadInput(fmt::format(
        "topology: {}: expected {} or the path of a file", name, fmt::join(names, ", ")));
  }
  const std::filesystem::path path =
      found == shipped.end() ? std::filesystem::path(name) : found->second;
  const std::string text = harness::read_file(path, harness::run::text_bytes_max);
  try {
    return gpu::plan::parse_topology(path.stem().string(), text);
  } catch (const std::invalid_argument& error) {
    throw BadInput(std::string("topology: ") + error.what());
  }
}

/// Returns the plan of a large call. The plan is empty if the algorithm refuses the call.
gpu::plan::Plan large_plan(const gpu::Implementation& implementation,
                           int ranks,
                           std::int64_t bytes) {
  const Case c = large_case(implementation.operation, implementation.algorithm.name, ranks, bytes);
  const spec::Call call = collective_call(c);
  gpu::plan::Builder builder;
  gpu::plan::Plan plan;
  if (!implementation.algorithm.refuses(call, {}).empty()) return plan;
  builder.begin(plan, reference::contract_named(implementation.operation), call, {});
  implementation.algorithm.plan(builder);
  return plan;
}

double steps_of(const gpu::Implementation& implementation, int ranks, std::int64_t bytes) {
  double steps = 1;
  for (const auto& program : large_plan(implementation, ranks, bytes).steps) {
    steps += static_cast<double>(program.size());
  }
  return steps;
}

/// Estimates the steps of a plan for many ranks from the growth between 32 and 64 ranks. Returns 0
/// for up to 64 ranks.
double expected_steps(const gpu::Implementation& implementation, int ranks, std::int64_t bytes) {
  constexpr int small = 32;
  if (ranks <= 2 * small) return 0;
  const double few = steps_of(implementation, small, bytes);
  const double more = steps_of(implementation, 2 * small, bytes);
  return more * std::pow(more / few, std::log2(static_cast<double>(ranks) / (2 * small)));
}

/// Prints one line of the table of simulated times. Returns its result as JSON, or the reason why
/// there is none.
nlohmann::ordered_json simulate_one(const gpu::Implementation& each,
                                    int ranks,
                                    const TopologyOptions& options,
                                    const gpu::plan::Topology& topology) {
  fmt::print("{:<17} {:<27} {:>6} ", each.operation, each.algorithm.name, ranks);
  nlohmann::ordered_json result{{"operation", each.operation},
                                {"algorithm", each.algorithm.name},
                                {"ranks", ranks},
                                {"bytes", options.bytes}};
  const auto left_out = [&](const std::string& reason) {
    fmt::print("   left out: {}\n", reason);
    result["left_out"] = reason;
    return result;
  };
  const double steps = expected_steps(each, ranks, options.bytes);
  if (steps > steps_max) return left_out(fmt::format("about {:.0e} steps", steps));
  const gpu::plan::Plan plan = large_plan(each, ranks, options.bytes);
  if (plan.ranks() == 0) return left_out("does not support the call");
  const gpu::plan::Timing timing = gpu::plan::time_plan(plan, 4, topology);
  std::int64_t messages = 0;
  for (const auto& traffic : timing.traffic) messages += traffic.messages;
  fmt::print("{:>12.1f} {:>14}\n", 1e6 * timing.seconds, harness::grouped(messages));
  std::fflush(stdout);
  result["messages"] = messages;
  result["simulated_seconds"] = timing.seconds;
  return result;
}

/// Returns the implementations that match the patterns. Throws BadInput if a pattern matches
/// nothing.
std::vector<const gpu::Implementation*> chosen(const TopologyOptions& options) {
  std::set<std::string> operations;
  std::set<std::string> algorithms;
  std::vector<const gpu::Implementation*> all;
  for (const gpu::Implementation& each : gpu::implementations()) {
    operations.emplace(each.operation);
    if (!harness::matches_any(options.operations, each.operation)) continue;
    algorithms.emplace(each.algorithm.name);
    if (harness::matches_any(options.algorithms, each.algorithm.name)) all.push_back(&each);
  }
  harness::run::require_matches("operation", options.operations, operations);
  harness::run::require_matches("algorithm", options.algorithms, algorithms);
  return all;
}

}  // namespace

void simulate(const TopologyOptions& options) {
  const gpu::plan::Topology topology = find_topology(options.topology);
  for (const int ranks : options.ranks) {
    if (ranks <= topology.capacity()) continue;
    throw BadInput(fmt::format("ranks: got {}, expected at most {}, those of topology {}",
                               ranks,
                               topology.capacity(),
                               topology.name));
  }
  const auto implementations = chosen(options);
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  fmt::print("topology {}, {} bytes a rank: simulated times, nothing was measured\n",
             topology.name,
             options.bytes);
  fmt::print("{:<17} {:<27} {:>6} {:>12} {:>14}\n",
             "operation",
             "algorithm",
             "ranks",
             "simulated µs",
             "messages");
  for (const gpu::Implementation* each : implementations) {
    for (const int ranks : options.ranks) {
      results.push_back(simulate_one(*each, ranks, options, topology));
    }
  }
  if (!options.json_path.empty()) {
    harness::write_file(
        options.json_path,
        nlohmann::ordered_json{{"topology", topology.name}, {"simulated", results}}.dump(2) + "\n");
  }
}

}  // namespace rankcheck::cases::bench
