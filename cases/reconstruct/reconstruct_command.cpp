#include "cases/reconstruct/reconstruct_command.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/case/case.hpp"
#include "harness/run/exit_status.hpp"

#include "cases/reconstruct/focus.hpp"
#include "cases/reconstruct/observer.hpp"
#include "cases/reconstruct/pictures.hpp"
#include "cases/reconstruct/requirements.hpp"
#include "cases/reconstruct/solvers.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

using harness::BadInput;
using harness::run::Interrupt;

/// The user is warned if the mean brightness of the frames' borders is at least this share of the
/// frames' mean. Light that illuminates the whole detector gives 1; far fields give 0.1 and less.
constexpr double border_brightness_max = 0.5;

gpu::Partition find_partition(const std::string& name) {
  const auto& names = gpu::partition_names;
  return static_cast<gpu::Partition>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Throws BadInput if the user asks for another value than the checkpoint has. 0 means that the
/// user did not ask.
void require_same(const char* option, int asked, int kept, const std::string& checkpoint) {
  if (asked == 0 || asked == kept) return;
  throw BadInput(fmt::format("{}: got {}, expected {}, as in {}", option, asked, kept, checkpoint));
}

/// Returns the solver's number of batches, but at most as many as give each batch 4 frames. With
/// fewer frames a step may lead away from the data, because object and probe both change as far as
/// one frame asks for.
int default_batches(const Solver& solver, const Dataset& data) {
  constexpr std::int64_t frames_min = 4;
  const std::int64_t batches_max = std::max<std::int64_t>(data.count / frames_min, 1);
  return static_cast<int>(std::min<std::int64_t>(solver.batches, batches_max));
}

/// Returns the checkpoint to continue from. Without a checkpoint, returns a result with solver and
/// batches but without a state.
Result begin(const Options& options, const Dataset& data) {
  Result from;
  if (options.resume.empty()) {
    const Solver& solver = options.solver.empty() ? solvers().front() : find_solver(options.solver);
    from.solver = solver.name;
    from.batches = options.batches == 0 ? default_batches(solver, data) : options.batches;
    return from;
  }
  from = read_result(options.resume, data);
  if (!options.solver.empty() && options.solver != from.solver) {
    throw BadInput(fmt::format(
        "--solver: got {}, expected {}, as in {}", options.solver, from.solver, options.resume));
  }
  require_memory(options.resume, from, find_solver(from.solver), data);
  require_same("--modes", options.modes, from.state.modes(data.window), options.resume);
  require_same("--batches", options.batches, from.batches, options.resume);
  return from;
}

/// Returns the number of probe modes: of the checkpoint, of the options, or else of the data.
int modes_of(const Options& options, const Result& from, const Dataset& data) {
  if (!options.resume.empty()) return from.state.modes(data.window);
  return options.modes == 0 ? data.modes : options.modes;
}

void describe(const Options& options,
              const Problem& problem,
              const Result& from,
              double reading_s) {
  const Dataset& data = problem.data;
  const std::string padded =
      data.stored_rows == data.stored_cols
          ? std::string()
          : fmt::format(" around {} × {}", data.stored_rows, data.stored_cols);
  fmt::print(
      "{}: {} of {} × {}{}, {}; object of {} × {}, pixels of {:.3g} × {:.3g} nm; read in "
      "{:.2g} s\n",
      options.file,
      harness::counted(data.count, "frame", "frames"),
      data.detector,
      data.detector,
      padded,
      data.has_probe ? "probe from the file" : "no probe",
      data.rows,
      data.cols,
      1e9 * data.object_pixel_height(),
      1e9 * data.object_pixel_width(),
      reading_s);
  if (data.masked() > 0) {
    const bool is_one = data.masked() == 1;
    const std::string which =
        is_one ? std::string() : fmt::format(" {} of them", harness::grouped(data.partly_bad));
    fmt::print("{} of {} pixels of every frame {} masked{}\n",
               harness::grouped(data.masked()),
               harness::grouped(std::int64_t{data.stored_rows} * data.stored_cols),
               is_one ? "is" : "are",
               data.partly_bad == 0
                   ? std::string()
                   : fmt::format(",{} because of bad values in some frames", which));
  }
  fmt::print("{}, {}, {} on {} in {}{}, {} partition, {} layout\n",
             from.solver,
             harness::counted(from.batches, "batch", "batches"),
             harness::counted(modes_of(options, from, data), "mode", "modes"),
             harness::counted(problem.cluster.ranks(), "rank", "ranks"),
             options.backend,
             options.devices.empty() ? "" : " with " + options.devices,
             options.partition,
             options.layout);
  std::fflush(stdout);
}

/// Warns if the frames do not look like far fields, which all operators assume. The light of far
/// fields is concentrated in the middle.
void warn_of_near_field(const Dataset& data) {
  // Probes of a few pixels, and probes with almost as many modes as pixels, light up the whole far
  // field.
  constexpr int window_min = 8;
  constexpr int pixels_per_mode_min = 16;
  if (data.window < window_min || data.window * data.window < pixels_per_mode_min * data.modes) {
    return;
  }
  const double brightness = data.source->border_brightness();
  if (brightness < border_brightness_max) return;
  std::fflush(stdout);
  fmt::print(
      stderr,
      "rankcheck: warning: {}: the borders of the frames are {:.2g} times as bright as their "
      "mean: near-field, cropped or off-centre frames give wrong pictures\n",
      harness::shortened(data.frames_name, 120),
      brightness);
}

/// Saves a checkpoint. If the state is not finite, nothing can continue from it, so the previous
/// checkpoint stays.
void save_checkpoint(const Options& options, const Dataset& data, const Result& result) {
  if (options.checkpoint.empty() || !is_finite(result)) return;
  write_result(options.checkpoint, data, result, true);
}

/// Writes the outputs, the main output first, and prints a summary. Returns the exit status.
int conclude(const Options& options,
             const Dataset& data,
             const Result& result,
             const Checks& checks,
             bool is_interrupted) {
  write_result(options.output, data, result, false);
  save_checkpoint(options, data, result);
  if (!options.pictures.empty()) {
    write_pictures(options.pictures, data, result, find_solver(result.solver).model);
  }
  // An interrupted run owes no checks, even if only a check was missing.
  const bool is_done = !is_interrupted && result.iterations >= options.budget.iterations;
  const bool is_whole = static_cast<std::int64_t>(result.costs.size()) > result.iterations;
  fmt::print("{} after {}; {}{}{}\n",
             is_whole ? fmt::format("cost {:.6g}", result.costs.back()) : "interrupted",
             harness::counted(result.iterations, "iteration", "iterations"),
             options.output,
             options.pictures.empty() ? "" : ", pictures in ",
             options.pictures);
  const std::string complaint = result.costs.empty() || std::isfinite(result.costs.back())
                                    ? checks.complaint(options.budget.check_every > 0 && is_done)
                                    : "falsified: the cost is not a number";
  if (complaint.empty()) return harness::run::status_held;
  fmt::print("{}\n", complaint);
  return harness::run::status_failed;
}

std::string side_of_focus(double defocus) {
  if (defocus == 0) return "in its focus";
  return fmt::format("{:.3g} m {} its focus", std::abs(defocus), defocus < 0 ? "before" : "behind");
}

void tell_tried(const Trial& trial) {
  fmt::print("looking for the probe, {}/{}: {}: cost {:.6g}\n",
             trial.number,
             trial.trials,
             side_of_focus(trial.defocus),
             trial.cost);
  std::fflush(stdout);
}

void tell_chosen(double defocus) {
  fmt::print("starting {}\n", side_of_focus(defocus));
  std::fflush(stdout);
}

/// Starts from the checkpoint if there is one, otherwise from the data's probe. If the data have no
/// probe, starts from the user's defocus or from the best defocus that a search finds. Clears the
/// state in `from`. Returns null if the user interrupted the search.
std::unique_ptr<Reconstruction> start_running(const Options& options,
                                              const Solver& solver,
                                              const Problem& problem,
                                              Dataset& data,
                                              Result& from,
                                              const std::function<bool()>& is_interrupted) {
  const auto start = [&] {
    return starting_state(data, modes_of(options, from, data), options.start == "flat");
  };
  std::unique_ptr<Reconstruction> running;
  if (!options.resume.empty()) {
    running = solver.start(problem, from.state);
  } else if (data.has_probe) {
    running = solver.start(problem, start());
  } else if (options.defocus) {
    data.probe = starting_probe(data, problem.shards->mean_frame(), *options.defocus);
    if (problem.cluster.local().front() == 0) tell_chosen(*options.defocus);
    running = solver.start(problem, start());
  } else {
    const Search search{
        .is_interrupted = is_interrupted, .tried = tell_tried, .chosen = tell_chosen};
    running = start_without_probe(solver, problem, data, start, search);
  }
  from.state = {};
  // The object is no longer needed.
  data.object = {};
  return running;
}

}  // namespace

int reconstruct_on(gpu::Cluster& cluster, const Options& options, const Interrupt& interrupt) {
  require_sense(options);
  const bool is_lead = cluster.local().front() == 0;
  const auto start = std::chrono::steady_clock::now();
  Dataset data = open_dataset(options.file);
  Result from = begin(options, data);
  const Solver& solver = find_solver(from.solver);
  Problem problem{.data = data,
                  .cluster = cluster,
                  .partition = find_partition(options.partition),
                  .layout = options.layout == "tiles" ? Layout::tiles : Layout::replicated,
                  .batches = from.batches};
  require_fit(options, solver, from, problem, modes_of(options, from, data));
  const Shards shards(data, cluster, problem.partition, problem.batches);
  problem.shards = &shards;
  data.source_total = shards.total();
  require_light(data, data.total());
  require_near_focus(options, data, shards);
  if (!options.resume.empty()) require_same_frames(options.resume, from, shards.fingerprint());
  from.frames_hash = shards.fingerprint();
  const std::chrono::duration<double> reading = std::chrono::steady_clock::now() - start;
  if (is_lead) {
    describe(options, problem, from, reading.count());
    warn_of_near_field(data);
  }
  AnyProcess any_process(cluster);
  const auto is_interrupted = [&] { return any_process.says(interrupt.requested()); };
  const std::unique_ptr<Reconstruction> running =
      start_running(options, solver, problem, data, from, is_interrupted);
  if (running == nullptr) {
    if (is_lead) fmt::print("interrupted while looking for the probe; nothing was written\n");
    return harness::run::status_held;
  }
  Progress progress(options.progress == "terminal",
                    options.budget.iterations,
                    Pace(options.budget, from.batches, from.iterations));
  Checks checks;
  const Result result =
      reconstruct(solver,
                  problem,
                  *running,
                  std::move(from),
                  options.budget,
                  {.iterated =
                       [&](std::int64_t iteration, double cost) {
                         if (is_lead) progress.iterated(iteration, cost);
                       },
                   .checking = [&](std::int64_t step) { progress.checking(step); },
                   .checked =
                       [&](std::int64_t step, const StepCheck& check) {
                         checks.add(check);
                         progress.checked(step, check);
                       },
                   .is_check_cancelled = [&] { return interrupt.requested().load(); },
                   .unequal = [&](std::int64_t step,
                                  const std::string& copy) { checks.add_unequal(step, copy); },
                   .save =
                       [&](const Result& now) {
                         if (is_lead) save_checkpoint(options, data, now);
                       },
                   .is_interrupted = is_interrupted});
  if (!is_lead) return harness::run::status_held;
  progress.clear();
  return conclude(options, data, result, checks, interrupt.requested());
}

}  // namespace rankcheck::cases::reconstruct
