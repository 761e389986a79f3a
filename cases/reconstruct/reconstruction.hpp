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
#include "gpu/ptycho/partition.hpp"

#include "cases/reconstruct/dataset.hpp"
#include "cases/reconstruct/shards.hpp"

/// Reconstructions as the command sees them: solvers that take steps over many devices.
namespace rankcheck::cases::reconstruct {

/// What every rank keeps of the object: all of it, or the tile under its own windows and a halo.
enum class Layout : std::uint8_t { replicated, tiles };

/// What there is to reconstruct, and over which devices.
struct Problem {
  const Dataset& data;
  gpu::Cluster& cluster;
  /// How the positions are shared out among the ranks.
  gpu::Partition partition = gpu::Partition::compact;
  Layout layout = Layout::replicated;
  /// Steps of an iteration: step b takes the positions n with n mod batches = b, whichever ranks
  /// have them.
  int batches = 1;
  /// The frames, made for all of the above; null: whoever needs them makes them.
  const Shards* shards = nullptr;
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

  /// Modes of a probe of this width.
  [[nodiscard]] int modes(int window) const {
    return static_cast<int>(probe.size()) / (window * window);
  }
};

/// What a reconstruction has come to.
struct Result {
  std::string solver = {};
  int batches = 1;
  /// Each goes once through all batches.
  std::int64_t iterations = 0;
  State state = {};
  /// The sum over measured pixels of (sqrt(I) - sqrt(d))^2, or where the solver's model is poisson,
  /// of I - d - d log(I / d), by that of d; the last one that of the
  /// state, those before of iteration 1, 2, …: of each batch's frames before its step. With one
  /// batch, that is the cost after 0, 1, 2, … iterations. On the way, and where an interruption
  /// came within an iteration, the last one is missing.
  std::vector<double> costs = {};
  /// fingerprint() of the frames that it comes from.
  std::uint64_t frames_hash = 0;
};

/// Whether one can go on from a result: all its values are finite.
[[nodiscard]] bool is_finite(const Result& result);

/// A reconstruction that is under way on its devices. Every process of the cluster makes the same
/// calls and gets the same answers.
class Reconstruction {
 public:
  virtual ~Reconstruction() = default;

  /// Takes a step with one of the batches; returns the cost of its frames before.
  virtual double step(int batch) = 0;
  /// The cost of the present state.
  virtual double cost() = 0;
  /// A copy of the present state.
  [[nodiscard]] virtual State state() = 0;
  /// Goes on from another state with arrays of the same sizes.
  virtual void restart(const State& from) = 0;
  /// Keeps a copy of the present state where the steps are taken, in place of the one before.
  virtual void keep() = 0;
  /// A copy of the state that was kept.
  [[nodiscard]] virtual State kept() = 0;
  /// The lowest rank that has other bits of an array than the ranks below it, and the array: "rank
  /// 2: probe". Empty where all copies are equal, as they are after every right step.
  [[nodiscard]] virtual std::string unequal_copy() { return {}; }
};

/// A step that was taken.
struct StepTaken {
  const State& before;
  const State& after;
  int batch = 0;
  /// What Reconstruction::step() returned.
  double cost = 0;
};

/// How far a step is from the reference's, from the same state.
struct StepCheck {
  /// The largest error by its bound; more than 1, or NaN, where the step is wrong.
  double ratio = 0;
  /// Where that is, in words: "probe, mode 1, pixel (3, 4)".
  std::string place = {};
  /// Of the values that the step changes, the share that the reference bounds: where a branch of
  /// the solver is too close to call, it says nothing.
  double bounded = 1;
};

/// A way to reconstruct.
struct Solver {
  std::string_view name;
  std::string_view summary;
  /// What it takes the noise of the frames for: gaussian, of the amplitudes, or poisson.
  std::string_view model = "gaussian";
  /// Steps of an iteration unless the user says otherwise; 1: it takes all frames at once, always.
  int batches = 1;
  /// Of a rank's device, for each pixel that it holds of the object.
  std::int64_t bytes_per_pixel = 0;
  /// What a state has beside object and probe, by the arrays' names.
  std::vector<spec::Array> remembers = {};
  /// Starts from a state. Throws BadInput where it cannot work on this problem.
  std::function<std::unique_ptr<Reconstruction>(const Problem& problem, const State& from)> start;
  /// Takes a step in the reference and compares. Throws OutOfPatience.
  std::function<StepCheck(const Problem& problem, const StepTaken& step)> check;
};

/// What the command does beside the steps.
struct Course {
  /// Altogether, those before a resumption included.
  std::int64_t iterations = 30;
  /// Check every K-th step in the reference; 0: none.
  std::int64_t check_every = 0;
  /// Save after every K-th iteration; 0: never on the way.
  std::int64_t save_every = 0;
};

/// Who follows a reconstruction.
struct Follower {
  /// After an iteration: its cost.
  std::function<void(std::int64_t iteration, double cost)> iterated = {};
  /// Before a step is checked, which takes long, and after; on the process that has rank 0 alone;
  /// steps count from 1.
  std::function<void(std::int64_t step)> checking = {};
  std::function<void(std::int64_t step, const StepCheck& check)> checked = {};
  /// Whether to leave a check unfinished, which then says nothing; asked within checks, so at once
  /// and of this process alone.
  std::function<bool()> is_impatient = {};
  /// After a step that was checked, and at the end: Reconstruction::unequal_copy(), where there is
  /// one; on the process that has rank 0 alone.
  std::function<void(std::int64_t step, const std::string& copy)> unequal = {};
  /// Time to save.
  std::function<void(const Result& result)> save = {};
  /// Whether to end, asked after every step; all processes say the same.
  std::function<bool()> is_interrupted = {};
};

/// Where a reconstruction starts from: the data's object and its probe with this number of modes;
/// or a flat object, and that probe as bright as the frames are: the sum of the intensities over
/// all measured pixels is that of the frames.
[[nodiscard]] State starting_state(const Dataset& data, int modes, bool from_flat_object);

/// Goes on from `from` until the course is done, the follower interrupts or the cost is no longer
/// finite. The result's costs end with that of its state; but interrupted within an iteration, it
/// is the state before that, and nobody waits for its cost.
[[nodiscard]] Result reconstruct(const Solver& solver,
                                 const Problem& problem,
                                 Result from,
                                 const Course& course,
                                 const Follower& follower);

/// Likewise, with what is under way from `from`, whose state nobody needs any more.
[[nodiscard]] Result reconstruct(const Solver& solver,
                                 const Problem& problem,
                                 Reconstruction& running,
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
/// no checkpoint of data of this shape at these positions.
[[nodiscard]] Result read_result(const std::filesystem::path& path, const Dataset& data);

/// Throws BadInput where what was read from `path` lacks something that the solver remembers.
void require_memory(const std::filesystem::path& path,
                    const Result& result,
                    const Solver& solver,
                    const Dataset& data);

/// Throws BadInput where what was read from `path` comes from frames with another fingerprint().
void require_same_frames(const std::filesystem::path& path,
                         const Result& result,
                         std::uint64_t frames_hash);

}  // namespace rankcheck::cases::reconstruct
