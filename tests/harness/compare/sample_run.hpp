#pragma once

#include <string>
#include <vector>

#include "harness/compare/comparison.hpp"

#include "tests/harness/sample.hpp"

namespace rankcheck::harness::compare {

inline constexpr const char* ring = "all_reduce/ring/sim/agrees_with_reference";
inline constexpr const char* law = "all_reduce/ring/sim/repeats";
inline constexpr const char* tree = "all_reduce/tree/sim/agrees_with_reference";
inline constexpr const char* other = "broadcast/direct/sim/agrees_with_reference";
inline constexpr const char* failing = "all_reduce/blocking/mpi/agrees_with_reference";
inline constexpr const char* skipped = "all_reduce/direct/cuda/agrees_with_reference";

inline void add_unit(RunReport& run, const std::string& id, Verdict verdict) {
  RunFinding finding;
  const Unit unit = unit_named(id);
  finding.id = id;
  finding.operation = unit.operation;
  finding.algorithm = unit.algorithm;
  finding.backend = finding.tested = unit.backend;
  finding.property = unit.property;
  finding.verdict = verdict;
  finding.cases = 10;
  finding.ratio_max = id == other ? 0 : 0.25;
  finding.asked = {{"cases", 10}};
  finding.duration_s = 1;
  finding.smallest_change = 1e-3;
  finding.cells = {"f32/sum", "int8/sum"};
  finding.requires_all_cells = id != law;
  run.findings.emplace(id, finding);
}

/// Returns the changes as "<kind> <what>", one on each line.
inline std::string lines_of(const std::vector<Change>& changes) {
  std::string text;
  for (const Change& each : changes) text += std::string(name(each.kind)) + ' ' + each.what + '\n';
  return text;
}

inline constexpr const char* large = "large/sim/all_reduce/ring/8x64";

/// Returns two measurements of three repetitions each.
inline BenchResults sample_bench() {
  return {.measurements = {{large, {.times = {2, 2.1, 2.2}, .has_floor = true, .failure = ""}},
                           {"cases/sim", {.times = {1e-5, 1e-5, 1e-5}, .failure = ""}}},
          .context = {{"num_cpus", 2}}};
}

/// Returns a run of six units: four passed, one failed, and one was skipped.
inline RunReport sample_run() {
  RunReport run;
  run.name = "sample";
  run.run = {{"seed", 1}};
  run.ending = "completed";
  for (const char* each : {ring, law, tree, other}) add_unit(run, each, Verdict::passed);
  add_unit(run, failing, Verdict::falsified);
  add_unit(run, skipped, Verdict::skipped);
  run.environment = {
      {"rankcheck", "1"},
      {"started", "2026-01-01T00:00:00Z"},
      {"hardware",
       {{"doctor",
         {{"backends",
           nlohmann::ordered_json::array({{{"name", "cuda"}, {"versions", "470"}}})}}}}},
      {"backends", {{"mpi", {{"versions", {{"mpi", "Open MPI"}}}}}}}};
  run.bench = sample_bench();
  run.known = {{"max", "failing"}};
  return run;
}

}  // namespace rankcheck::harness::compare
