#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend.hpp"

namespace benchmark {
class State;
}

/// What `rankcheck bench` measures.
namespace rankcheck::cases::bench {

/// What the user asked for.
struct Options {
  std::vector<std::string> backends{"sim", "mpi"};
  double seconds_min = 0.5;
  /// Bytes of one rank's buffer in large calls.
  std::int64_t bytes = std::int64_t{4} << 20;
  /// Frames that operators are measured on.
  int frames = 516;
  /// A pattern: the names of what is measured.
  std::string filter = "*";
  /// Where the results are written as JSON too; may be empty.
  std::string json_path;
};

/// One measured run; returns its seconds. Throws std::runtime_error where it goes wrong.
using Run = std::function<double()>;

/// What is measured.
struct Entry {
  /// "<kind>/<backend>/<what>/…"
  std::string name;
  /// The only backend that is open meanwhile: the memory of another's processes is not this one's.
  std::string backend;
  /// Makes everything ready that is not measured.
  std::function<Run()> prepare;
  /// Makes ready what the runs are measured against, run in turns with them. Null: the number of
  /// runs in a second is what counts.
  std::function<Run()> prepare_floor = nullptr;
  /// Ranks of a large collective call.
  int large_ranks = 0;
};

/// Collects what is to be measured and measures it.
class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  [[nodiscard]] const Options& options() const { return options_; }
  /// The backend of that name with the ranks that it is measured with; stays open until another
  /// one is asked for.
  [[nodiscard]] harness::Backend& backend(const std::string& name);
  /// The time of one memcpy of every rank's buffer: the median of several, measured once.
  [[nodiscard]] double copy_floor_seconds(int ranks);

  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  /// Measures everything and prints it. Whether nothing went wrong; throws BadInput where the
  /// filter leaves nothing, or large calls that would take too much memory.
  [[nodiscard]] bool run();

 private:
  /// Leaves what the filter lets through.
  void select();
  void measure(benchmark::State& state, const Entry& entry);
  void close_backend();

  Options options_;
  std::string backend_name_;
  std::unique_ptr<harness::Backend> backend_;
  std::map<int, double> copy_floors_;
  std::vector<Entry> entries_;
  bool failed_ = false;
};

/// Ranks with which a backend is measured: processes share few cores.
[[nodiscard]] int ranks_of(const std::string& backend);

/// Small cases of all collectives and of all operators, each verified with everything on:
/// contracts, races, oracle.
void add_small_cases(Bench& bench, const std::string& backend);
/// Large calls of collectives against the copy floor.
void add_large_collectives(Bench& bench, const std::string& backend);
/// Operators on many frames, as many as the real scan has whose sizes they take, in single
/// precision, against the two transforms of every frame alone. On processes: cost, gradients and a
/// step on one and on two of them.
void add_operators(Bench& bench, const std::string& backend);

}  // namespace rankcheck::cases::bench
