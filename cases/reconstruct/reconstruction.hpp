#pragma once

#include <complex>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/ptycho/partition.hpp"

#include "cases/reconstruct/dataset.hpp"

/// Reconstructions as the command sees them: solvers that take steps over many devices.
namespace rankcheck::cases::reconstruct {

/// What every rank keeps of the object: all of it, or the tile under its own windows and a halo.
enum class Layout : std::uint8_t { replicated, tiles };
[[nodiscard]] std::string_view name(Layout layout);

/// What there is to reconstruct, and over which devices.
struct Problem {
  const Dataset& data;
  std::string backend = "sim";
  int ranks = 1;
  /// How the positions are shared out among the ranks.
  gpu::Partition partition = gpu::Partition::compact;
  Layout layout = Layout::replicated;
};

/// All that a reconstruction goes on from: equal states give equal steps, on any devices up to
/// rounding.
struct State {
  /// [rows, cols] of the data.
  std::vector<std::complex<float>> object;
  /// [modes, window, window]
  std::vector<std::complex<float>> probe;
  /// What the solver remembers from step to step, by name; an array of one for a number.
  std::map<std::string, std::vector<float>> memory;
};

/// What a reconstruction has come to.
struct Result {
  std::string solver;
  std::int64_t steps = 0;
  State state;
  /// After 0, 1, 2, … steps: the sum over measured pixels of (sqrt(I) - sqrt(d))^2 by that of d. On
  /// the way, the last state's is still missing.
  std::vector<double> costs;
};

/// A reconstruction that is under way on its devices.
class Reconstruction {
 public:
  virtual ~Reconstruction() = default;

  /// Takes one step; returns the cost of the state that it started from.
  virtual double step() = 0;
  /// The cost of the present state.
  virtual double cost() = 0;
  /// A copy of the present state.
  [[nodiscard]] virtual State state() const = 0;
};

/// How far a step is from the reference's, from the same state.
struct StepCheck {
  /// The largest error by its bound; more than 1, or NaN, where the step is wrong.
  double ratio = 0;
  /// Where that is, in words: "probe, mode 1, pixel (3, 4)".
  std::string place;
};

/// A way to reconstruct.
struct Solver {
  std::string_view name;
  std::string_view summary;
  /// Starts from a state. Throws BadInput where it cannot work on this problem.
  std::unique_ptr<Reconstruction> (*start)(const Problem& problem, const State& from) = nullptr;
  /// Takes one step from a state in the reference and compares.
  StepCheck (*check)(const Problem& problem, const State& before, const State& after) = nullptr;
};

/// What the command does beside the steps.
struct Course {
  /// Steps altogether, those before a resumption included.
  std::int64_t steps = 30;
  /// Check every K-th step in the reference; 0: none.
  std::int64_t check_every = 0;
  /// Save after every K-th step; 0: never on the way.
  std::int64_t save_every = 0;
};

/// Who follows a reconstruction.
struct Follower {
  /// After a step: the cost of the state before it, and the check where there was one.
  std::function<void(std::int64_t step, double cost, const std::optional<StepCheck>& check)>
      stepped = {};
  /// Time to save.
  std::function<void(const Result& result)> save = {};
  /// Whether to end after this step.
  std::function<bool()> is_interrupted = {};
};

/// Where a reconstruction starts from: the data's object or a flat one, and the data's probe with
/// this number of modes.
[[nodiscard]] State starting_state(const Dataset& data, int modes, bool from_flat_object);

/// Goes on from `from` until the course is done, the follower interrupts or the cost is no longer
/// finite. The result's costs end with that of its state.
[[nodiscard]] Result reconstruct(const Solver& solver,
                                 const Problem& problem,
                                 Result from,
                                 const Course& course,
                                 const Follower& follower);

/// Writes a CXI file: the object in entry_1/image_1/data, the probe in
/// entry_1/instrument_1/source_1/illumination, the positions used (row and column of each window's
/// minimum corner, in pixels of the object) in entry_1/image_1/positions, the costs in
/// entry_1/image_1/cost. The solver's memory goes to rankcheck_1/memory where it is wanted, as for
/// a checkpoint. Replaces the file at once; throws FileError.
void write_result(const std::filesystem::path& path,
                  const Dataset& data,
                  const Result& result,
                  bool with_memory);

/// Reads a file that write_result() wrote with memory. Throws FileError, and BadInput where it is
/// no checkpoint of this data.
[[nodiscard]] Result read_result(const std::filesystem::path& path, const Dataset& data);

}  // namespace rankcheck::cases::reconstruct
