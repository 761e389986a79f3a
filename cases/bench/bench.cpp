#include "cases/bench/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <tuple>

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "harness/files.hpp"
#include "harness/suite_file.hpp"

#include "cases/bench/memory.hpp"
#include "cases/commands/command.hpp"
#include "cases/commands/memory.hpp"

namespace rankcheck::cases::bench {

namespace {

/// Google Benchmark's own options.
void initialise(const Options& options) {
  // Google Benchmark keeps the name.
  static char program[] = "rankcheck";
  std::vector<std::string> words{fmt::format("--benchmark_min_time={}", options.seconds_min)};
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

}  // namespace

int ranks_of(const std::string& backend) {
  return backend == "sim" ? 8 : 4;
}

harness::Backend& Bench::backend(const std::string& name) {
  if (!backend_ || backend_name_ != name) {
    close_backend();
    backend_ = open_backend(name, {.ranks_max = ranks_of(name)});
    backend_name_ = name;
  }
  return *backend_;
}

void Bench::close_backend() {
  if (!backend_) return;
  if (const auto trouble = backend_->close()) {
    fmt::print("{}: {}\n", backend_name_, trouble->reason);
    failed_ = true;
  }
  backend_.reset();
}

double Bench::copy_floor_seconds(int ranks) {
  constexpr int repetitions = 21;
  double& floor = copy_floors_[ranks];
  if (floor > 0) return floor;
  const auto size = static_cast<std::size_t>(options_.bytes);
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

void Bench::select() {
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.name);
  std::erase_if(entries_,
                [&](const Entry& entry) { return !harness::matches(options_.filter, entry.name); });
  if (entries_.empty()) {
    throw harness::BadInput(fmt::format("filter: expected a pattern that matches one of {}; got {}",
                                        fmt::join(names, ", "),
                                        options_.filter));
  }
  for (const Entry& entry : entries_) {
    // What is sent and what is received.
    const double bytes = 2.0 * entry.large_ranks * static_cast<double>(options_.bytes);
    expect_memory("bytes", entry.large_ranks, bytes);
  }
}

void Bench::measure(benchmark::State& state, const Entry& entry) {
  try {
    std::ignore = backend(entry.backend);
    const Run floor = entry.prepare_floor ? entry.prepare_floor() : Run();
    const Run run = entry.prepare();
    double total = 0;
    double floor_total = 0;
    int floors = 0;
    restart_peak_memory();
    for (auto _ : state) {
      const double seconds = run();
      total += seconds;
      // In turns, so that whatever else the machine does slows down both.
      if (floor && floor_total <= total) {
        floor_total += floor();
        ++floors;
      }
      state.SetIterationTime(seconds);
    }
    const auto runs = static_cast<double>(state.iterations());
    if (floor) {
      // Printed in the order of their names.
      state.counters["floor_ratio"] = total / runs / (floor_total / floors);
      state.counters["floor_seconds"] = floor_total / floors;
    } else {
      state.counters["cases_per_second"] = runs / total;
    }
    state.counters["peak_memory_bytes"] = peak_memory_bytes();
  } catch (const std::runtime_error& error) {
    failed_ = true;
    state.SkipWithError(error.what());
  }
}

bool Bench::run() {
  select();
  benchmark::ClearRegisteredBenchmarks();
  for (const Entry& entry : entries_) {
    benchmark::RegisterBenchmark(entry.name.c_str(),
                                 [&](benchmark::State& state) { measure(state, entry); })
        ->UseManualTime()
        ->Unit(entry.prepare_floor ? benchmark::kMillisecond : benchmark::kMicrosecond);
  }
  initialise(options_);
  benchmark::RunSpecifiedBenchmarks();
  // They refer to the entries.
  benchmark::ClearRegisteredBenchmarks();
  close_backend();
  return !failed_;
}

}  // namespace rankcheck::cases::bench
