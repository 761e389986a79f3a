#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace rankcheck::harness::compare {

/// One measurement of `rankcheck bench`, with a value for each repetition.
struct Measurement {
  /// Times that grow if the code gets slower: multiples of the floor, or seconds.
  std::vector<double> times = {};
  /// Whether `times` are multiples of the floor.
  bool has_floor = false;
  /// The bytes that each time is for, if the measurement shows a bandwidth. 0 otherwise.
  double bytes = 0;
  /// The values of each counter that Google Benchmark shows, by its name.
  std::map<std::string, std::vector<double>> counters = {};
  /// What went wrong. Empty if the measurement was made.
  std::string failure = {};

  /// The middle of the times, which must not be empty.
  [[nodiscard]] double median() const;
  /// The largest time minus the smallest one: how much the same code differs from itself.
  [[nodiscard]] double noise() const;
};

/// The file of `rankcheck bench --json FILE`.
struct BenchResults {
  /// By name, such as "large/mpi/all_reduce/blocking/4x4194304".
  std::map<std::string, Measurement> measurements;
  /// What was measured: devices, driver, runtime, processors.
  nlohmann::ordered_json context;
};

/// How the time of a measurement differs.
enum class Speed : std::uint8_t {
  /// By less than the factor, or by less than the noise of both.
  alike,
  slower,
  faster,
  /// One of them was made only once, so its noise is unknown, or only one of them has a floor, or
  /// they are for other sizes.
  unknown,
};

/// Compares two measurements that were made. They differ if the medians differ by more than the
/// noise of both together and by the factor or more.
[[nodiscard]] Speed compare_speed(const Measurement& before, const Measurement& now, double factor);

/// "1.8 times the floor (1.79 to 1.82)", "1.5 ms (1.4 ms to 1.6 ms)" or "20.1 GB/s (19 to 21)".
[[nodiscard]] std::string to_text(const Measurement& measurement);

/// Reads the file. Throws BadInput that names the file and the field, and FileError.
[[nodiscard]] BenchResults read_bench_results(const std::filesystem::path& file);

}  // namespace rankcheck::harness::compare
