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

#include "gpu/device/cluster.hpp"
#include "gpu/ptycho/exchange/partition.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/shards.hpp"

/// Reconstructions as the command uses them: solvers that take steps over many devices.
namespace rankcheck::cases::reconstruct {

/// The part of the object that every rank keeps: all of it, or the tile under its own windows and a
/// halo.
enum class Layout : std::uint8_t { replicated, tiles };

/// The data to reconstruct, and the devices.
struct Problem {
  const Dataset& data;
  gpu::Cluster& cluster;
  /// How the positions are shared out among the ranks.
  gpu::Partition partition = gpu::Partition::compact;
  Layout layout = Layout::replicated;
  /// Steps of an iteration. Step b takes the positions n with n mod batches = b, whichever ranks
  /// own them.
  int batches = 1;
  /// The frames on the devices, made for all fields above. Null: the reconstruction makes and owns
  /// them.
  const Shards* shards = nullptr;
};

/// Everything that a reconstruction needs to continue. Equal states give equal steps on any
/// devices, up to rounding.
struct State {
  /// [rows, cols] of the data.
  std::vector<std::complex<float>> object;
  /// [modes, window, window]
  std::vector<std::complex<float>> probe;
  /// The arrays that the solver remembers from step to step, by name. A number is an array of one
  /// value.
  std::map<std::string, std::vector<float>> memory;

  /// Returns the number of modes of a probe with windows of this width.
  [[nodiscard]] int modes(int window) const {
    return static_cast<int>(probe.size()) / (window * window);
  }
};

/// The result of a reconstruction so far.
struct Result {
  std::string solver = {};
  int batches = 1;
  /// Number of iterations. Each goes once through all batches.
  std::int64_t iterations = 0;
  State state = {};
  /// Costs: sums over measured pixels, divided by the sum of d. I is the computed and d the
  /// measured intensity. The terms are (sqrt(I) - sqrt(d))^2, or I - d - d log(I / d) if the
  /// solver's model is poisson.
  /// First come the costs of the iterations: each sums the costs of the batches' frames before
  /// their steps. The last cost belongs to `state`. With one batch, these are the costs after
  /// 0, 1, 2, … iterations. The last cost is missing while the reconstruction runs, and if it was
  /// interrupted within an iteration.
  std::vector<double> costs = {};
  /// Shards::fingerprint() of the frames that were reconstructed.
  std::uint64_t frames_hash = 0;
};

/// Whether all values of a result are finite, so that a run can continue from it.
[[nodiscard]] bool is_finite(const Result& result);

/// A reconstruction that runs on its devices. Every process of the cluster makes the same calls and
/// gets the same answers.
class Reconstruction {
 public:
  virtual ~Reconstruction() = default;

  /// Takes a step with one of the batches. Returns the cost of the batch's frames before the step.
  virtual double step(int batch) = 0;
  /// Returns the cost of the present state.
  virtual double cost() = 0;
  /// Returns a copy of the present state.
  [[nodiscard]] virtual State state() = 0;
  /// Continues from another state with arrays of the same sizes.
  virtual void restart(const State& from) = 0;
  /// Keeps a copy of the present state on the devices. It replaces the copy kept before.
  virtual void keep() = 0;
  /// Returns a copy of the kept state.
  [[nodiscard]] virtual State kept() = 0;
  /// Returns the lowest rank that has other bits in some array than the ranks below it, and the
  /// array: "rank 2: probe". Returns an empty text if all copies are equal, as after every correct
  /// step.
  [[nodiscard]] virtual std::string unequal_copy() { return {}; }
};

/// A step that was taken.
struct StepTaken {
  const State& before;
  const State& after;
  int batch = 0;
  /// The return value of Reconstruction::step().
  double cost = 0;
};

/// The distance between a step and the reference's step from the same state.
struct StepCheck {
  /// The largest error divided by its bound. Above 1 or NaN if the step is wrong.
  double ratio = 0;
  /// The place of the largest ratio, such as "probe, mode 1, pixel (3, 4)".
  std::string place = {};
  /// Among the values that the step changes, the share that has a useful bound, as
  /// harness::PowerMeter defines it. A branch of the solver that is too close to call has none.
  double useful = 1;
  /// The names of the arrays without any useful bound. Empty if there is no such array.
  std::string blind = {};
  /// Whether some value of the object or of the probe has a useful bound.
  bool has_power = true;
};

/// A method of reconstruction.
struct Solver {
  std::string_view name;
  std::string_view summary;
  /// The noise model of the frames: gaussian (noise of the amplitudes) or poisson.
  std::string_view model = "gaussian";
  /// Steps of an iteration unless the user gives another number. 1: the solver always takes all
  /// frames at once.
  int batches = 1;
  /// Bytes of a rank's device for each pixel of the object that it holds.
  std::int64_t bytes_per_pixel = 0;
  /// The arrays of a state besides object and probe.
  std::vector<spec::Array> remembers = {};
  /// Starts from a state. Throws BadInput if the solver cannot work on this problem.
  std::function<std::unique_ptr<Reconstruction>(const Problem& problem, const State& from)> start;
  /// Takes the step in the reference and compares. Throws Cancelled.
  std::function<StepCheck(const Problem& problem, const StepTaken& step)> check;
};

/// How long to run, and what to do besides the steps.
struct StepBudget {
  /// Total number of iterations, including those before a resumption.
  std::int64_t iterations = 30;
  /// Check every K-th step in the reference; 0: check no step.
  std::int64_t check_every = 0;
  /// Save after every K-th iteration; 0: never during the run.
  std::int64_t save_every = 0;
};

/// Callbacks of a reconstruction.
struct Observer {
  /// Called after each iteration with its cost.
  std::function<void(std::int64_t iteration, double cost)> iterated = {};
  /// Called before a step is checked, which takes long, and after. Only on the process that has
  /// rank 0. Steps count from 1.
  std::function<void(std::int64_t step)> checking = {};
  std::function<void(std::int64_t step, const StepCheck& check)> checked = {};
  /// Whether to leave a check unfinished, which then gives no result. It is asked during checks and
  /// on this process alone, so it must not wait for other processes.
  std::function<bool()> is_check_cancelled = {};
  /// Called with the result of Reconstruction::unequal_copy() if it is not empty: after each
  /// checked step, and at the end. Only on the process that has rank 0.
  std::function<void(std::int64_t step, const std::string& copy)> unequal = {};
  /// Called when it is time to save. Required if the budget has save_every.
  std::function<void(const Result& result)> save = {};
  /// Whether to stop. Asked after every step; must give the same answer on all processes.
  std::function<bool()> is_interrupted = {};
};

/// Returns the state from which a reconstruction starts: the data's object, and the data's probe
/// with this number of modes. If `from_flat_object`, the object is flat, and the probe is scaled to
/// be as bright as the frames. The sum of the intensities over all measured pixels then equals the
/// frames' sum.
[[nodiscard]] State starting_state(const Dataset& data, int modes, bool from_flat_object);

/// Continues `running`, which started from `from`, until the budget is used up, the observer
/// interrupts, or the cost is not finite. `from.state` may be empty. The last cost of the result
/// belongs to its state. If the interruption comes within an iteration, the result has the state
/// before this iteration, and its cost is missing.
[[nodiscard]] Result reconstruct(const Solver& solver,
                                 const Problem& problem,
                                 Reconstruction& running,
                                 Result from,
                                 const StepBudget& budget,
                                 const Observer& observer);

/// Writes a CXI file:
/// - entry_1/image_1/data: the object,
/// - entry_1/instrument_1/source_1/illumination: the probe,
/// - entry_1/image_1/positions: the positions used (row and column of each window's minimum corner,
///   in pixels of the object),
/// - entry_1/image_1/cost: the costs,
/// - rankcheck_1/memory: the solver's memory, if `with_memory`, as in a checkpoint.
/// Replaces an existing file in one step. Throws FileError.
void write_result(const std::filesystem::path& path,
                  const Dataset& data,
                  const Result& result,
                  bool with_memory);

/// Reads a file that write_result() wrote with memory. Throws FileError. Throws BadInput if the
/// file is not a checkpoint of data of this shape at these positions.
[[nodiscard]] Result read_result(const std::filesystem::path& path, const Dataset& data);

/// Throws BadInput if a result that was read from `path` lacks an array that the solver remembers.
void require_memory(const std::filesystem::path& path,
                    const Result& result,
                    const Solver& solver,
                    const Dataset& data);

/// Throws BadInput if a result that was read from `path` comes from frames with another
/// Shards::fingerprint().
void require_same_frames(const std::filesystem::path& path,
                         const Result& result,
                         std::uint64_t frames_hash);

}  // namespace rankcheck::cases::reconstruct
