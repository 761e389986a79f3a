#include "cases/bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <exception>
#include <set>
#include <tuple>
#include <utility>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reference/spec/to_size.hpp"

#include "harness/backend/backend.hpp"
#include "harness/base/files.hpp"
#include "harness/base/table.hpp"
#include "harness/run/memory.hpp"
#include "harness/suite/suite_file.hpp"

#include "cases/backends/registry.hpp"
#include "cases/bench/memory.hpp"

namespace rankcheck::cases::bench {

namespace {

/// Passes our options on to Google Benchmark.
void initialise(const Options& options) {
  // Google Benchmark keeps the pointer to the name, so the array is static.
  static char program[] = "rankcheck";
  std::vector<std::string> words{fmt::format("--benchmark_min_time={}", options.seconds_min)};
  if (options.repetitions > 1) {
    words.push_back(fmt::format("--benchmark_repetitions={}", options.repetitions));
    // The file has every repetition.
    words.emplace_back("--benchmark_display_aggregates_only=true");
  }
  if (!options.json_path.empty()) {
    harness::write_file(options.json_path, "");
    words.push_back("--benchmark_out=" + options.json_path);
    words.emplace_back("--benchmark_out_format=json");
  }
  std::vector<char*> arguments{program};
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
}

/// Prints nothing in place of a table.
class Silence : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context& /*context*/) override { return true; }
  void ReportRuns(const std::vector<Run>& /*runs*/) override {}
};

/// Records what is measured (driver, runtime, devices). Google Benchmark prints it before the
/// results and writes it to the JSON file. Throws Interrupted if `stop` is made meanwhile.
void announce(const std::set<std::string>& backends, const harness::StopRequest& stop) {
  for (const harness::BackendEntry& each : available_backends().entries()) {
    if (!backends.contains(each.name)) continue;
    try {
      const nlohmann::json versions = each.describe(stop);
      if (!versions.empty()) benchmark::AddCustomContext(each.name, versions.dump());
    } catch (const std::exception& error) {
      // The measurements will fail with the same message.
      benchmark::AddCustomContext(each.name, error.what());
    }
  }
}

/// Reports the floor and the ratio to it. Google Benchmark prints counters in the order of their
/// names.
void show(benchmark::State& state, const Times& times) {
  const double floor = median(times.floor_seconds);
  state.counters["floor_ratio"] = median(times.seconds) / floor;
  state.counters["floor_seconds"] = floor;
}

}  // namespace

int ranks_of(const std::string& backend) {
  return backend == "sim" || backend == "cuda" ? 8 : 4;
}

Sizes sizes_of(const Options& options, const std::string& backend) {
  const Sizes own = backend == "cuda"
                        ? Sizes{.bytes = std::int64_t{64} << 20, .frames = 2048, .width = 256}
                        : Sizes();
  return {.bytes = options.bytes.value_or(own.bytes),
          .frames = options.frames.value_or(own.frames),
          .width = options.width.value_or(own.width)};
}

harness::Backend& Bench::backend(const std::string& name) {
  if (!backend_ || backend_name_ != name) {
    close_backend();
    backend_ =
        available_backends().open(name, {.ranks_max = ranks_of(name), .stop = options_.stop});
    backend_name_ = name;
  }
  return *backend_;
}

void Bench::close_backend() {
  if (!backend_) return;
  if (const auto failure = backend_->close()) {
    fmt::print("{}: {}\n", backend_name_, failure->reason);
    failed_ = true;
  }
  backend_.reset();
}

void Bench::require_no_stop() const {
  if (options_.stop.is_made()) throw harness::Interrupted();
}

double Bench::copy_floor_seconds(int ranks, std::int64_t bytes) {
  constexpr int repetitions = 21;
  double& floor = copy_floors_[{ranks, bytes}];
  if (floor > 0) return floor;
  const auto size = spec::to_size(bytes);
  std::vector<std::byte> from(spec::to_size(ranks) * size, std::byte{1});
  std::vector<std::byte> to(from.size(), std::byte{2});
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    for (std::size_t at = 0; at < from.size(); at += size) {
      std::memcpy(to.data() + at, from.data() + at, size);
    }
    benchmark::ClobberMemory();
    times.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return floor = median(std::move(times));
}

void Bench::select() {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  std::erase_if(entries_, [&](const Entry& entry) {
    const auto& filters = options_.filters;
    return std::none_of(filters.begin(), filters.end(), [&](const std::string& each) {
      return harness::matches(each, entry.name);
    });
  });
  if (entries_.empty()) {
    constexpr std::size_t named_max = 8;
    throw harness::BadInput(fmt::format("filter: {}: selects nothing, expected some of {}",
                                        fmt::join(options_.filters, ", "),
                                        harness::first_of(names, named_max)));
  }
  for (const Entry& entry : entries_) {
    // Twice the buffer's bytes: one buffer to send and one to receive.
    const double bytes = 2.0 * entry.large_ranks * static_cast<double>(sizes(entry.backend).bytes);
    harness::run::require_memory("bytes", entry.large_ranks, bytes);
    harness::run::require_memory("frames", entry.operator_ranks, entry.image_bytes);
  }
}

void Bench::measure_on_devices(benchmark::State& state, const Entry& entry) {
  close_backend();
  const Times times = entry.times();
  for ([[maybe_unused]] auto _ : state) state.SetIterationTime(median(times.seconds));
  state.counters["runs"] = static_cast<double>(times.seconds.size());
  show(state, times);
  if (entry.moved_bytes > 0 && times.floor_bytes > 0) {
    state.counters["bandwidth_share"] = bandwidth_share(times, entry.moved_bytes);
  }
}

void Bench::measure_runs(benchmark::State& state, const Entry& entry) {
  std::ignore = backend(entry.backend);
  const Run floor = entry.prepare_floor ? entry.prepare_floor() : Run();
  const Run run = entry.prepare();
  Times times;
  double total = 0;
  double floor_total = 0;
  restart_peak_memory();
  for ([[maybe_unused]] auto _ : state) {
    require_no_stop();
    const double seconds = run();
    total += seconds;
    state.SetIterationTime(seconds);
    if (!floor) continue;
    times.seconds.push_back(seconds);
    // The runs and the floor take turns, so that other load on the machine slows down both.
    if (floor_total > total) continue;
    times.floor_seconds.push_back(floor());
    floor_total += times.floor_seconds.back();
  }
  if (floor) {
    show(state, times);
  } else {
    state.counters["cases_per_second"] = static_cast<double>(state.iterations()) / total;
  }
  state.counters["peak_memory_bytes"] = peak_memory_bytes();
}

void Bench::measure(benchmark::State& state, const Entry& entry) {
  if (options_.is_over && options_.is_over()) {
    failed_ = true;
    state.SkipWithError("the time limit was reached");
    return;
  }
  try {
    require_no_stop();
    if (entry.times) {
      measure_on_devices(state, entry);
    } else {
      measure_runs(state, entry);
    }
  } catch (const harness::Interrupted&) {
    // Google Benchmark would leave its files unfinished.
    is_interrupted_ = true;
    state.SkipWithError("interrupted");
  } catch (const std::runtime_error& error) {
    failed_ = true;
    state.SkipWithError(error.what());
  }
}

bool Bench::run() {
  select();
  benchmark::ClearRegisteredBenchmarks();
  for (const Entry& entry : entries_) {
    const bool is_large = entry.prepare_floor || entry.times;
    auto* const made = benchmark::RegisterBenchmark(
        entry.name.c_str(), [&](benchmark::State& state) { measure(state, entry); });
    made->UseManualTime()->Unit(is_large ? benchmark::kMillisecond : benchmark::kMicrosecond);
    // The worker decides how often to run these.
    if (entry.times) made->Iterations(1);
  }
  std::set<std::string> measured;
  for (const Entry& entry : entries_) measured.insert(entry.backend);
  close_backend();
  announce(measured, options_.stop);
  initialise(options_);
  Silence silence;
  benchmark::RunSpecifiedBenchmarks(options_.quiet ? &silence : nullptr);
  // The registered benchmarks refer to the entries.
  benchmark::ClearRegisteredBenchmarks();
  close_backend();
  if (is_interrupted_) throw harness::Interrupted();
  return !failed_;
}

bool measure(const Options& options) {
  Bench bench(options);
  for (const std::string& each : options.backends) {
    add_small_cases(bench, each);
    add_large_collectives(bench, each);
    add_operators(bench, each);
  }
  return bench.run();
}

}  // namespace rankcheck::cases::bench
