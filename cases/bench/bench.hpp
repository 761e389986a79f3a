#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend/backend.hpp"
#include "harness/base/stop.hpp"

#include "cases/devices/device_times.hpp"

namespace benchmark {
class State;
}

/// The measurements of `rankcheck bench`.
namespace rankcheck::cases::bench {

/// The user's options.
struct Options {
  std::vector<std::string> backends{"sim", "mpi"};
  double seconds_min = 0.5;
  /// How often each measurement is made. More than one shows its noise.
  int repetitions = 1;
  /// Empty: a default that depends on the backend, see sizes_of().
  std::optional<std::int64_t> bytes = {};
  std::optional<int> frames = {};
  std::optional<int> width = {};
  /// Patterns for the names of the measurements.
  std::vector<std::string> filters{"*"};
  /// The file that also gets the results as JSON. Empty: none.
  std::string json_path;
  /// Whether nothing is printed. The file is written all the same.
  bool quiet = false;
  /// Asked before each measurement. If it returns true, the measurement is left out and the run
  /// fails. Empty: all measurements are made.
  std::function<bool()> is_over = {};
  /// What to look at while something is measured.
  harness::StopRequest stop = {};
};

/// Sizes of the measured inputs.
struct Sizes {
  /// Bytes of one rank's buffer in large calls.
  std::int64_t bytes = std::int64_t{4} << 20;
  /// Number of frames for operators, and the pixels along each side of a frame. Default: 516 frames
  /// of 128², the size of the measured scan.
  int frames = 516;
  int width = 128;
};

/// Returns the user's sizes. Defaults replace the sizes that the user left open; they are larger
/// for a GPU.
[[nodiscard]] Sizes sizes_of(const Options& options, const std::string& backend);

/// One measured run; returns its seconds. Throws std::runtime_error if the run fails.
using Run = std::function<double()>;

/// One measurement. Either `prepare` or `times` is set.
struct Entry {
  /// "<kind>/<backend>/<what>/…"
  std::string name;
  /// The only backend that is open during the measurement. Otherwise the processes of another
  /// backend would count in its peak memory.
  std::string backend;
  /// Prepares everything that is not measured. Null if `times` is set.
  std::function<Run()> prepare = nullptr;
  /// Prepares the floor, which runs in turns with the measured runs. If null, the result is the
  /// runs per second.
  std::function<Run()> prepare_floor = nullptr;
  /// Measures runs and floors with the clocks of the devices. No backend is open meanwhile.
  std::function<Times()> times = nullptr;
  /// Ranks of an operator (0 if this is none), and the bytes of its images.
  int operator_ranks = 0;
  double image_bytes = 0;
  /// Ranks of a large collective call (0 if this is none), and the bytes that its plan must move
  /// (0: there is no plan).
  int large_ranks = 0;
  double moved_bytes = 0;
};

/// Collects measurements and makes them.
class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Sizes sizes(const std::string& backend) const {
    return sizes_of(options_, backend);
  }
  /// Returns the backend of that name, opened with ranks_of(name) ranks. Bench owns the backend. It
  /// stays open until another backend is asked for.
  [[nodiscard]] harness::Backend& backend(const std::string& name);
  /// Returns the seconds of one memcpy of every rank's buffer: the median of several, measured once
  /// for each size.
  [[nodiscard]] double copy_floor_seconds(int ranks, std::int64_t bytes);

  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  /// Makes all measurements and prints them. Returns whether all succeeded. Throws BadInput if the
  /// filter leaves no measurement, or if one would take too much memory. Throws Interrupted if a
  /// stop was asked for.
  [[nodiscard]] bool run();

 private:
  /// Keeps the entries that match the filter. Throws BadInput as run() does.
  void select();
  void measure(benchmark::State& state, const Entry& entry);
  void measure_runs(benchmark::State& state, const Entry& entry);
  void measure_on_devices(benchmark::State& state, const Entry& entry);
  void close_backend();
  /// Throws Interrupted where a stop was asked for.
  void require_no_stop() const;

  Options options_;
  std::string backend_name_;
  std::unique_ptr<harness::Backend> backend_;
  std::map<std::pair<int, std::int64_t>, double> copy_floors_;
  std::vector<Entry> entries_;
  bool failed_ = false;
  bool is_interrupted_ = false;
};

/// Makes the measurements of the options on their backends, which must be available here, and
/// prints them. Returns whether all succeeded. Throws as Bench::run() does.
[[nodiscard]] bool measure(const Options& options);

/// Returns the number of ranks with which a backend is measured. Backends of processes get fewer,
/// because the processes share few cores.
[[nodiscard]] int ranks_of(const std::string& backend);

/// Adds small cases of all collectives and of all operators. Each is verified with all checks:
/// contracts, races, oracle.
void add_small_cases(Bench& bench, const std::string& backend);
/// Adds large calls of collectives. The floor is one copy of every rank's buffer.
void add_large_collectives(Bench& bench, const std::string& backend);
/// Adds operators on many frames, in single precision. The floor is the two transforms of every
/// frame alone. On sim, operators run on one rank. Operators whose ranks exchange tiles or shards
/// run on four; their floor is a copy of half their inputs and outputs. On other backends, the
/// entries are gradients and an rPIE step, on one rank and on two.
void add_operators(Bench& bench, const std::string& backend);

}  // namespace rankcheck::cases::bench
