#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>

#include <CLI/CLI.hpp>
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "reference/collectives/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/simulator.hpp"
#include "gpu/plan/timing.hpp"
#include "gpu/plan/topology.hpp"

#include "harness/files.hpp"
#include "harness/generator.hpp"
#include "harness/suite_file.hpp"
#include "harness/table.hpp"

#include "cases/catalogue.hpp"
#include "cases/commands/command.hpp"

namespace rankcheck::cases {

namespace {

using harness::BadInput;
using harness::Case;
using Clock = std::chrono::steady_clock;

/// What the user asked for.
struct BenchOptions {
  std::vector<std::string> backends{"sim", "mpi"};
  bool backends_named = false;
  std::string json_path;
  double seconds_min = 0.5;
  /// Bytes of one rank's buffer in the large collectives.
  std::int64_t bytes = std::int64_t{4} << 20;
  /// Virtual time instead of measurements, where not empty.
  std::string topology;
  std::vector<int> ranks{8};
  std::string operation = "*";
  std::string algorithm = "*";
};

/// Operations whose large calls are measured against the copy floor.
constexpr std::array<std::string_view, 3> large_operations{
    "all_reduce", "all_gather", "all_to_all"};
constexpr int small_ranks_sim = 8;
constexpr int small_ranks_mpi = 4;
constexpr std::int64_t small_elements = 64;
constexpr int small_cases_per_unit = 16;
/// Plans of more steps are not timed: a step takes about a hundred bytes.
constexpr double steps_max = 3e7;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The peak of this process's memory since `restart_peak_memory`, in bytes; 0 where unknown.
double peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    double kilobytes = 0;
    status >> kilobytes;
    return 1024 * kilobytes;
  }
  return 0;
}

void restart_peak_memory() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

/// The time of one memcpy of every rank's buffer: the median of several.
double copy_floor_seconds(int ranks, std::int64_t bytes) {
  const auto size = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(bytes);
  std::vector<std::byte> from(size, std::byte{1});
  std::vector<std::byte> to(size, std::byte{2});
  std::vector<double> times;
  for (int i = 0; i < 9; ++i) {
    const Clock::time_point start = Clock::now();
    for (int r = 0; r < ranks; ++r) {
      const auto at = static_cast<std::size_t>(r) * static_cast<std::size_t>(bytes);
      std::memcpy(to.data() + at, from.data() + at, static_cast<std::size_t>(bytes));
    }
    benchmark::ClobberMemory();
    times.push_back(seconds_since(start));
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void count_memory(benchmark::State& state) {
  state.counters["peak_memory_bytes"] = peak_memory_bytes();
}

void count_ratio(benchmark::State& state, double seconds, double floor_seconds) {
  state.counters["copy_floor_ms"] = 1000 * floor_seconds;
  state.counters["times_copy_floor"] =
      seconds / static_cast<double>(state.iterations()) / floor_seconds;
}

const spec::Contract& contract_of(std::string_view operation) {
  const auto& all = reference::collectives();
  return std::find_if(all.begin(),
                      all.end(),
                      [&](const auto& each) { return each.contract.name == operation; })
      ->contract;
}

/// The call of a collective whose longer buffer has about `bytes` bytes on every rank.
Case large_case(std::string_view operation,
                std::string_view algorithm,
                int ranks,
                std::int64_t bytes) {
  const spec::Contract& contract = contract_of(operation);
  Case c;
  c.operation = operation;
  c.algorithm = algorithm;
  c.ranks = ranks;
  if (contract.reduces) c.op = spec::ReduceOp::sum;
  const std::int64_t elements = bytes / spec::info(c.type).bytes;
  const auto n = static_cast<std::size_t>(ranks);
  if (contract.sizes == spec::Sizes::counts_per_rank) c.counts.assign(n, elements / ranks);
  if (contract.sizes == spec::Sizes::counts_per_pair) c.counts.assign(n * n, elements / ranks);
  if (contract.sizes != spec::Sizes::count) return c;
  c.count = 1;
  const spec::Extents unit = spec::extents_of(contract, call_of(c), 0);
  c.count = elements / std::max({unit.send_size, unit.recv_size, std::int64_t{1}});
  return c;
}

/// Small legal cases of every operation: of all algorithms in sim, of the plain call elsewhere,
/// where going from one algorithm to another may start new processes.
std::vector<Case> small_cases(const harness::Catalogue& catalogue,
                              harness::Backend& backend,
                              const std::string& name,
                              int ranks_max) {
  std::vector<Case> cases;
  std::string last;
  for (const harness::AlgorithmInfo& each : backend.algorithms()) {
    if (name != "sim" && each.operation == last) continue;
    last = each.operation;
    if (catalogue.find_property(each.operation, "agrees_with_reference") == nullptr) continue;
    const harness::Unit unit{.operation = each.operation,
                             .algorithm = each.name,
                             .backend = name,
                             .property = "agrees_with_reference",
                             .ranks_max = ranks_max,
                             .types = {},
                             .pinned = {}};
    harness::Generator generator(catalogue, backend, unit, 1);
    harness::Choices words(1);
    for (int made = 0, tries = 0; made < small_cases_per_unit && tries < 1000; ++tries) {
      Case c;
      if (!generator.next(words.next(), 50, c)) break;
      std::int64_t longest = c.count;
      for (const std::int64_t count : c.counts) longest = std::max(longest, count);
      if (longest > small_elements) continue;
      cases.push_back(std::move(c));
      ++made;
    }
  }
  return cases;
}

/// Verified small cases, everything on: contracts, races, oracle.
void measure_cases(benchmark::State& state, const std::string& backend_name, int ranks_max) {
  const harness::Catalogue catalogue = make_catalogue();
  const auto backend = open_backend(backend_name, {.ranks_max = ranks_max});
  const std::vector<Case> cases = small_cases(catalogue, *backend, backend_name, ranks_max);
  harness::Examiner examiner(catalogue, *backend);
  harness::Judgement judgement;
  std::size_t next = 0;
  restart_peak_memory();
  for (auto _ : state) {
    const Case& c = cases[next++ % cases.size()];
    examiner.examine(c, judgement);
    if (judgement.verdict == harness::Verdict::passed) continue;
    state.SkipWithError((to_text(c) + ": " + judgement.reason).c_str());
    break;
  }
  state.counters["cases_per_second"] =
      benchmark::Counter(static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
  count_memory(state);
}

/// A large plan on simulated devices, all checks of the plan on; buffers are filled once.
void measure_large_sim(benchmark::State& state,
                       std::string_view operation,
                       const gpu::plan::Algorithm& algorithm,
                       std::int64_t bytes) {
  const int ranks = small_ranks_sim;
  const Case c = large_case(operation, algorithm.name, ranks, bytes);
  const spec::Call call = call_of(c);
  const spec::Contract& contract = contract_of(operation);
  std::vector<std::vector<std::byte>> memory;
  std::vector<gpu::sim::RankBuffers> buffers;
  for (int r = 0; r < ranks; ++r) {
    const spec::Extents extents = spec::extents_of(contract, call, r);
    memory.emplace_back(static_cast<std::size_t>(4 * extents.send_size), std::byte{0});
    memory.emplace_back(static_cast<std::size_t>(4 * extents.recv_size), std::byte{0});
    buffers.push_back({.send = (memory.end() - 2)->data(),
                       .recv = memory.back().data(),
                       .send_bytes = 4 * extents.send_size,
                       .recv_bytes = 4 * extents.recv_size});
  }
  const double floor_seconds = copy_floor_seconds(ranks, bytes);
  gpu::sim::Simulator simulator;
  gpu::plan::Builder builder;
  gpu::plan::Plan plan;
  double total = 0;
  restart_peak_memory();
  for (auto _ : state) {
    const Clock::time_point start = Clock::now();
    builder.begin(plan, contract, call, {});
    algorithm.plan(builder);
    const auto& report = simulator.run(plan, c.type, c.op, buffers, {}, {});
    const double seconds = seconds_since(start);
    if (report.status != gpu::sim::Status::completed) state.SkipWithError(report.text.c_str());
    total += seconds;
    state.SetIterationTime(seconds);
  }
  count_ratio(state, total, floor_seconds);
  count_memory(state);
}

/// A large call in a backend of processes: from the first rank's entry to the last one's leaving.
void measure_large_worker(benchmark::State& state,
                          const std::string& backend_name,
                          const harness::AlgorithmInfo& algorithm,
                          std::int64_t bytes) {
  const int ranks = small_ranks_mpi;
  const auto backend = open_backend(backend_name, {.ranks_max = ranks});
  Case c = large_case(algorithm.operation, algorithm.name, ranks, bytes);
  c.backend = backend_name;
  const double floor_seconds = copy_floor_seconds(ranks, bytes);
  harness::Observation observation;
  double total = 0;
  restart_peak_memory();
  for (auto _ : state) {
    backend->run({&c, 1}, observation);
    if (observation.status != harness::RunStatus::completed) {
      state.SkipWithError(observation.reason.c_str());
      break;
    }
    const auto& stamps = observation.stages[0].stamps;
    std::int64_t entered = stamps[0].entered;
    std::int64_t left = stamps[0].left;
    for (const harness::Stamp& stamp : stamps) {
      entered = std::min(entered, stamp.entered);
      left = std::max(left, stamp.left);
    }
    const double seconds = 1e-9 * static_cast<double>(left - entered);
    total += seconds;
    state.SetIterationTime(seconds);
  }
  count_ratio(state, total, floor_seconds);
  count_memory(state);
}

bool is_large(std::string_view operation) {
  return std::find(large_operations.begin(), large_operations.end(), operation) !=
         large_operations.end();
}

void register_sim(const BenchOptions& options) {
  for (const gpu::Implementation& each : gpu::implementations()) {
    if (!is_large(each.operation)) continue;
    const std::string name = fmt::format("large/sim/{}/{}/{}x{}",
                                         each.operation,
                                         each.algorithm.name,
                                         small_ranks_sim,
                                         options.bytes);
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&each, bytes = options.bytes](benchmark::State& state) {
                                   measure_large_sim(state, each.operation, each.algorithm, bytes);
                                 })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

void register_worker(const BenchOptions& options, const std::string& backend_name) {
  const auto backend = open_backend(backend_name, {.ranks_max = small_ranks_mpi});
  for (const harness::AlgorithmInfo& each : backend->algorithms()) {
    if (!is_large(each.operation)) continue;
    Case c = large_case(each.operation, each.name, small_ranks_mpi, options.bytes);
    c.backend = backend_name;
    if (!backend->refuses(c).empty()) continue;
    const std::string name = fmt::format("large/{}/{}/{}/{}x{}",
                                         backend_name,
                                         each.operation,
                                         each.name,
                                         small_ranks_mpi,
                                         options.bytes);
    benchmark::RegisterBenchmark(
        name.c_str(),
        [each, backend_name, bytes = options.bytes](benchmark::State& state) {
          measure_large_worker(state, backend_name, each, bytes);
        })
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
  }
}

void measure(BenchOptions& options) {
  if (options.backends_named) {
    for (const std::string& each : options.backends) require_backend(each);
  }
  benchmark::ClearRegisteredBenchmarks();
  for (const std::string& each : options.backends) {
    if (const NamedBackend backend = find_backend(each); !backend.unavailable.empty()) {
      fmt::print("{}: skipped: {}\n", each, backend.unavailable);
      continue;
    }
    const int ranks = each == "sim" ? small_ranks_sim : small_ranks_mpi;
    benchmark::RegisterBenchmark(
        ("cases/" + each).c_str(),
        [each, ranks](benchmark::State& state) { measure_cases(state, each, ranks); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
    if (each == "sim") {
      register_sim(options);
    } else {
      register_worker(options, each);
    }
  }
  std::vector<std::string> words{"rankcheck",
                                 fmt::format("--benchmark_min_time={}", options.seconds_min)};
  if (!options.json_path.empty()) {
    words.push_back("--benchmark_out=" + options.json_path);
    words.emplace_back("--benchmark_out_format=json");
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  benchmark::RunSpecifiedBenchmarks();
}

/// A topology by its name or by the path of its file.
gpu::plan::Topology find_topology(const std::string& name) {
  const auto shipped = data_folder() / "gpu/plan/topologies" / (name + ".txt");
  try {
    return gpu::plan::load_topology(std::filesystem::exists(shipped) ? shipped.string() : name);
  } catch (const std::invalid_argument& error) {
    throw BadInput(std::string("topology: ") + error.what());
  }
}

/// The plan of a large call.
gpu::plan::Plan large_plan(const gpu::Implementation& implementation,
                           int ranks,
                           std::int64_t bytes) {
  const Case c = large_case(implementation.operation, implementation.algorithm.name, ranks, bytes);
  const spec::Call call = call_of(c);
  gpu::plan::Builder builder;
  gpu::plan::Plan plan;
  if (!implementation.algorithm.refuses(call, {}).empty()) return plan;
  builder.begin(plan, contract_of(implementation.operation), call, {});
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

/// The steps of a plan for many ranks, told from how they grow between two smaller ones.
double expected_steps(const gpu::Implementation& implementation, int ranks, std::int64_t bytes) {
  constexpr int small = 32;
  if (ranks <= 2 * small) return 0;
  const double few = steps_of(implementation, small, bytes);
  const double more = steps_of(implementation, 2 * small, bytes);
  return more * std::pow(more / few, std::log2(static_cast<double>(ranks) / (2 * small)));
}

/// One line of the table of simulated times; its result, or null where it was left out.
nlohmann::ordered_json simulate_one(const gpu::Implementation& each,
                                    int ranks,
                                    const BenchOptions& options,
                                    const gpu::plan::Topology& topology) {
  fmt::print("{:<17} {:<27} {:>6} ", each.operation, each.algorithm.name, ranks);
  const double steps = expected_steps(each, ranks, options.bytes);
  if (steps > steps_max) {
    fmt::print("   left out: about {:.0e} steps\n", steps);
    return nullptr;
  }
  const gpu::plan::Plan plan = large_plan(each, ranks, options.bytes);
  if (plan.ranks() == 0) {
    fmt::print("   left out: does not take the call\n");
    return nullptr;
  }
  const gpu::plan::Timing timing = gpu::plan::time_plan(plan, 4, topology);
  std::int64_t messages = 0;
  for (const auto& traffic : timing.traffic) messages += traffic.messages;
  fmt::print("{:>12.1f} {:>14}\n", 1e6 * timing.seconds, harness::grouped(messages));
  std::fflush(stdout);
  return {{"operation", each.operation},
          {"algorithm", each.algorithm.name},
          {"ranks", ranks},
          {"bytes", options.bytes},
          {"messages", messages},
          {"simulated_seconds", timing.seconds}};
}

/// Virtual time of the algorithms: simulated, never mixed with measured.
void simulate(const BenchOptions& options) {
  const gpu::plan::Topology topology = find_topology(options.topology);
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
  for (const gpu::Implementation& each : gpu::implementations()) {
    if (!harness::matches(options.operation, each.operation)) continue;
    if (!harness::matches(options.algorithm, each.algorithm.name)) continue;
    for (const int ranks : options.ranks) {
      if (ranks > topology.capacity()) {
        throw BadInput(fmt::format(
            "ranks: topology {} has {}, got {}", topology.name, topology.capacity(), ranks));
      }
      nlohmann::ordered_json result = simulate_one(each, ranks, options, topology);
      if (!result.is_null()) results.push_back(std::move(result));
    }
  }
  if (!options.json_path.empty()) {
    harness::write_file(
        options.json_path,
        nlohmann::ordered_json{{"topology", topology.name}, {"simulated", results}}.dump(2) + "\n");
  }
}

}  // namespace

void add_bench(CLI::App& app, Context& /*context*/) {
  CLI::App* bench = app.add_subcommand(
      "bench", "measures the implementations, or times their plans on a topology");
  auto options = std::make_shared<BenchOptions>();
  CLI::Option* named =
      bench->add_option("--backend", options->backends, "backends to measure")->delimiter(',');
  bench->add_option("--json", options->json_path, "also write the results to this file");
  bench->add_option("--min-time", options->seconds_min, "seconds for each measurement, at least")
      ->check(CLI::Range(0.01, 60.0));
  bench->add_option("--bytes", options->bytes, "bytes of one rank's buffer in large collectives")
      ->check(CLI::Range(std::int64_t{4096}, std::int64_t{1} << 34));
  bench->add_option(
      "--topology", options->topology, "time the plans on this machine instead: a name or a file");
  bench->add_option("--ranks", options->ranks, "ranks for --topology")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16));
  bench->add_option("--operation", options->operation, "operations for --topology, a pattern");
  bench->add_option("--algorithm", options->algorithm, "algorithms for --topology, a pattern");
  bench->callback([options, named] {
    options->backends_named = named->count() > 0;
    if (options->topology.empty()) {
      measure(*options);
    } else {
      simulate(*options);
    }
  });
}

}  // namespace rankcheck::cases
