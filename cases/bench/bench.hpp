#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend.hpp"

#include "cases/bench/device_times.hpp"

namespace benchmark {
class State;
}

/// What `rankcheck bench` measures.
namespace rankcheck::cases::bench {

/// What the user asked for.
struct Options {
  std::vector<std::string> backends{"sim", "mpi"};
  double seconds_min = 0.5;
  /// Empty: what suits the backend, see sizes_of().
  std::optional<std::int64_t> bytes = {};
  std::optional<int> frames = {};
  std::optional<int> width = {};
  /// Patterns of the names of what is measured.
  std::vector<std::string> filters{"*"};
  /// Where the results are written as JSON too; may be empty.
  std::string json_path;
  /// Asked before each measurement: true leaves out what is left. Empty: nothing is left out.
  std::function<bool()> is_over = {};
};

/// How much is measured with.
struct Sizes {
  /// Of one rank's buffer in large calls.
  std::int64_t bytes = std::int64_t{4} << 20;
  /// Frames that operators are measured on, and the pixels along each side of one.
  int frames = 516;
  int width = 128;
};

/// What the user asked for or, of what was left open, what suits the backend: a GPU is measured
/// with more.
[[nodiscard]] Sizes sizes_of(const Options& options, const std::string& backend);

/// One measured run; returns its seconds. Throws std::runtime_error where it goes wrong.
using Run = std::function<double()>;

/// What is measured.
struct Entry {
  /// "<kind>/<backend>/<what>/…"
  std::string name;
  /// The only backend that is open meanwhile: the memory of another's processes is not this one's.
  std::string backend;
  /// Makes everything ready that is not measured. Null where `times` is not.
  std::function<Run()> prepare = nullptr;
  /// Makes ready what the runs are measured against, run in turns with them. Null: the number of
  /// runs in a second is what counts.
  std::function<Run()> prepare_floor = nullptr;
  /// Measures runs and floors by the clocks of the devices, with no backend open.
  std::function<Times()> times = nullptr;
  /// Ranks of an operator, and what their images take; 0: none.
  int operator_ranks = 0;
  double image_bytes = 0;
  /// Ranks of a large collective call, and what its plan must move; 0: no plan.
  int large_ranks = 0;
  double moved_bytes = 0;
};

/// Collects what is to be measured and measures it.
class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Sizes sizes(const std::string& backend) const {
    return sizes_of(options_, backend);
  }
  /// The backend of that name with the ranks that it is measured with; stays open until another
  /// one is asked for.
  [[nodiscard]] harness::Backend& backend(const std::string& name);
  /// The time of one memcpy of every rank's buffer: the median of several, measured once.
  [[nodiscard]] double copy_floor_seconds(int ranks, std::int64_t bytes);

  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  /// Measures everything and prints it. Whether nothing went wrong; throws BadInput where the
  /// filter leaves nothing, or what would take too much memory.
  [[nodiscard]] bool run();

 private:
  /// Leaves what the filter lets through.
  void select();
  void measure(benchmark::State& state, const Entry& entry);
  void measure_runs(benchmark::State& state, const Entry& entry);
  void measure_on_devices(benchmark::State& state, const Entry& entry);
  void close_backend();

  Options options_;
  std::string backend_name_;
  std::unique_ptr<harness::Backend> backend_;
  std::map<std::pair<int, std::int64_t>, double> copy_floors_;
  std::vector<Entry> entries_;
  bool failed_ = false;
};

/// Measures what the options ask for on their backends, which can run here, and prints it. Returns
/// whether every measurement succeeded. Throws as Bench::run() does.
[[nodiscard]] bool measure(const Options& options);

/// Ranks with which a backend is measured: processes share few cores.
[[nodiscard]] int ranks_of(const std::string& backend);

/// Small cases of all collectives and of all operators, each verified with everything on:
/// contracts, races, oracle.
void add_small_cases(Bench& bench, const std::string& backend);
/// Large calls of collectives against the copy floor.
void add_large_collectives(Bench& bench, const std::string& backend);
/// Operators on many frames, by default as many as the real scan has whose sizes they take, in
/// single precision, against the two transforms of every frame alone. On sim: on one rank; but
/// tiles and shards, which ranks exchange, on four, against a copy of half their inputs and
/// outputs. On other backends: cost, gradients and a step on one rank and on two.
void add_operators(Bench& bench, const std::string& backend);

}  // namespace rankcheck::cases::bench
