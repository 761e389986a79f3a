#include "harness/compare/bench_results.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "harness/base/files.hpp"
#include "harness/base/json_text.hpp"
#include "harness/case/fields.hpp"

namespace rankcheck::harness::compare {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

/// Fields of the context that say when and how something was measured, not on what.
const std::set<std::string, std::less<>> not_of_the_machine{"date",
                                                            "host_name",
                                                            "executable",
                                                            "mhz_per_cpu",
                                                            "load_avg",
                                                            "library_version",
                                                            "library_build_type",
                                                            "json_schema_version"};

/// The name without what Google Benchmark appends.
std::string plain_name(const std::string& name) {
  return name.substr(0, std::min(name.find("/iterations:"), name.find("/manual_time")));
}

double seconds_in(const std::string& unit, Fields& fields) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1;
  fields.fail("time_unit", fmt::format("{:.60}: expected ns, us, ms or s", unit));
}

/// Adds one repetition of a measurement.
void add_repetition(Fields& fields, Measurement& measurement) {
  bool failed = false;
  fields.optional("error_occurred", failed);
  if (failed) {
    measurement.failure = "failed";
    fields.optional("error_message", measurement.failure);
    return;
  }
  double time = 0;
  double cases_per_second = 0;
  fields.optional("floor_ratio", time);
  fields.optional("cases_per_second", cases_per_second);
  measurement.has_floor = time > 0;
  if (time <= 0 && cases_per_second > 0) time = 1 / cases_per_second;
  if (time <= 0) {
    std::string unit;
    fields.required("real_time", time);
    fields.required("time_unit", unit);
    time *= seconds_in(unit, fields);
  }
  if (!(time > 0) || !std::isfinite(time)) fields.fail("real_time", "expected a time above 0");
  measurement.times.push_back(time);
}

std::string time_text(double time, bool has_floor) {
  if (has_floor) return fmt::format("{:.3g}", time);
  if (time < 1e-3) return fmt::format("{:.3g} us", time * 1e6);
  if (time < 1) return fmt::format("{:.3g} ms", time * 1e3);
  return fmt::format("{:.3g} s", time);
}

}  // namespace

double Measurement::median() const {
  std::vector<double> sorted = times;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

double Measurement::noise() const {
  const auto [least, most] = std::minmax_element(times.begin(), times.end());
  return *most - *least;
}

Speed compare_speed(const Measurement& before, const Measurement& now, double factor) {
  const bool is_known = before.times.size() > 1 && now.times.size() > 1;
  const bool is_alike = before.has_floor == now.has_floor && before.bytes == now.bytes;
  if (!is_known || !is_alike) return Speed::unknown;
  const double was = before.median();
  const double is = now.median();
  const bool is_beyond_noise = std::abs(is - was) > before.noise() + now.noise();
  if (!is_beyond_noise || std::max(was, is) < factor * std::min(was, is)) return Speed::alike;
  return is > was ? Speed::slower : Speed::faster;
}

std::string to_text(const Measurement& measurement) {
  if (!measurement.failure.empty()) return measurement.failure;
  const auto [least, most] =
      std::minmax_element(measurement.times.begin(), measurement.times.end());
  if (measurement.bytes > 0) {
    const double gigabytes = measurement.bytes / 1e9;
    return fmt::format("{:.3g} GB/s ({:.3g} to {:.3g})",
                       gigabytes / measurement.median(),
                       gigabytes / *most,
                       gigabytes / *least);
  }
  return fmt::format("{}{} ({} to {})",
                     time_text(measurement.median(), measurement.has_floor),
                     measurement.has_floor ? " times the floor" : "",
                     time_text(*least, measurement.has_floor),
                     time_text(*most, measurement.has_floor));
}

BenchResults read_bench_results(const std::filesystem::path& file) {
  const std::string place = file.string();
  const auto text = parse_json<ordered_json>(read_file(file));
  const bool is_bench = text.is_object() && text.contains("context") &&
                        text["context"].is_object() && text.contains("benchmarks") &&
                        text["benchmarks"].is_array();
  if (!is_bench) throw BadInput(place + ": expected measurements of `rankcheck bench --json`");
  BenchResults results;
  for (const auto& [key, value] : text["context"].items()) {
    if (!not_of_the_machine.contains(key)) results.context[key] = value;
  }
  for (std::size_t i = 0; i < text["benchmarks"].size(); ++i) {
    const json entry = text["benchmarks"][i];
    Fields fields(entry, fmt::format("{}: benchmarks[{}]", place, i));
    std::string kind = "iteration";
    std::string name;
    fields.optional("run_type", kind);
    if (kind != "iteration") continue;
    fields.required("name", name);
    Measurement& measurement = results.measurements[plain_name(name)];
    add_repetition(fields, measurement);
    for (const auto& [key, value] : entry.items()) {
      if (value.is_number()) measurement.counters[key].push_back(value);
    }
  }
  return results;
}

}  // namespace rankcheck::harness::compare
