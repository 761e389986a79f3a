#include "cases/bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "harness/case.hpp"
#include "harness/files.hpp"
#include "harness/suite_file.hpp"

#include "cases/bench/memory.hpp"
#include "cases/commands/command.hpp"

namespace rankcheck::cases::bench {

namespace {

void measure(benchmark::State& state, const Entry& entry, bool& failed) {
  try {
    const Run run = entry.prepare();
    double total = 0;
    restart_peak_memory();
    for (auto _ : state) {
      const double seconds = run();
      total += seconds;
      state.SetIterationTime(seconds);
    }
    const auto runs = static_cast<double>(state.iterations());
    if (entry.floor_seconds > 0) {
      // Printed in the order of their names.
      state.counters["floor_ratio"] = total / runs / entry.floor_seconds;
      state.counters["floor_seconds"] = entry.floor_seconds;
    } else {
      state.counters["cases_per_second"] = runs / total;
    }
    state.counters["peak_memory_bytes"] = peak_memory_bytes();
  } catch (const std::runtime_error& error) {
    failed = true;
    state.SkipWithError(error.what());
  }
}

/// Google Benchmark's own options.
void initialise(const Options& options) {
  std::vector<std::string> words{"rankcheck",
                                 fmt::format("--benchmark_min_time={}", options.seconds_min)};
  if (!options.json_path.empty()) {
    harness::write_file(options.json_path, "");
    words.push_back("--benchmark_out=" + options.json_path);
    words.emplace_back("--benchmark_out_format=json");
  }
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
}

}  // namespace

int ranks_of(const std::string& backend) {
  return backend == "sim" ? 8 : 4;
}

harness::Backend& Bench::backend(const std::string& name) {
  auto& backend = backends_[name];
  if (!backend) backend = open_backend(name, {.ranks_max = ranks_of(name)});
  return *backend;
}

double Bench::copy_floor_seconds(int ranks, std::int64_t bytes) {
  constexpr int repetitions = 21;
  double& floor = copy_floors_[{ranks, bytes}];
  if (floor > 0) return floor;
  const auto size = static_cast<std::size_t>(bytes);
  std::vector<std::byte> from(static_cast<std::size_t>(ranks) * size, std::byte{1});
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
  std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
  return floor = times[repetitions / 2];
}

bool Bench::run() {
  bool failed = false;
  benchmark::ClearRegisteredBenchmarks();
  std::erase_if(entries_,
                [&](const Entry& entry) { return !harness::matches(options_.filter, entry.name); });
  if (entries_.empty()) {
    throw harness::BadInput(
        fmt::format("filter: expected a pattern as cases/*, got {}", options_.filter));
  }
  for (const Entry& entry : entries_) {
    const bool is_large = entry.floor_seconds > 0;
    benchmark::RegisterBenchmark(
        entry.name.c_str(),
        [&entry, &failed](benchmark::State& state) { measure(state, entry, failed); })
        ->UseManualTime()
        ->Unit(is_large ? benchmark::kMillisecond : benchmark::kMicrosecond);
  }
  initialise(options_);
  benchmark::RunSpecifiedBenchmarks();
  // They refer to the entries.
  benchmark::ClearRegisteredBenchmarks();
  for (auto& [name, backend] : backends_) {
    if (const auto trouble = backend->close()) {
      fmt::print("{}: {}\n", name, trouble->reason);
      failed = true;
    }
  }
  return !failed;
}

}  // namespace rankcheck::cases::bench
