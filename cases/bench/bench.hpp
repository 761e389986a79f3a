#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "harness/backend.hpp"

/// What `rankcheck bench` measures.
namespace rankcheck::cases::bench {

/// What the user asked for.
struct Options {
  std::vector<std::string> backends{"sim", "mpi"};
  double seconds_min = 0.5;
  /// Bytes of one rank's buffer in large calls.
  std::int64_t bytes = std::int64_t{4} << 20;
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
  /// Makes everything ready that is not measured.
  std::function<Run()> prepare;
  /// What no implementation can be faster than, in seconds; 0: small runs, of which the number in a
  /// second counts.
  double floor_seconds = 0;
};

/// Collects what is to be measured and measures it.
class Bench {
 public:
  explicit Bench(Options options) : options_(std::move(options)) {}

  [[nodiscard]] const Options& options() const { return options_; }
  /// The backend of that name with the ranks that it is measured with; stays open.
  [[nodiscard]] harness::Backend& backend(const std::string& name);
  /// The time of one memcpy of every rank's buffer: the median of several, measured once.
  [[nodiscard]] double copy_floor_seconds(int ranks, std::int64_t bytes);

  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  /// Measures everything and prints it. Whether nothing went wrong; throws BadInput where the
  /// filter leaves nothing.
  [[nodiscard]] bool run();

 private:
  Options options_;
  std::map<std::string, std::unique_ptr<harness::Backend>> backends_;
  std::map<std::pair<int, std::int64_t>, double> copy_floors_;
  std::vector<Entry> entries_;
};

/// Ranks with which a backend is measured: processes share few cores.
[[nodiscard]] int ranks_of(const std::string& backend);

/// Small cases of every operation, each verified with everything on: contracts, races, oracle.
void add_small_cases(Bench& bench, const std::string& backend);
/// Large calls of collectives against the copy floor.
void add_large_collectives(Bench& bench, const std::string& backend);

}  // namespace rankcheck::cases::bench
