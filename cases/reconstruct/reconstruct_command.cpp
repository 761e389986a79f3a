#include "cases/reconstruct/reconstruct_command.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "harness/case.hpp"
#include "harness/run/exit_status.hpp"
#include "harness/run/memory.hpp"
#include "harness/run/outputs.hpp"
#include "harness/table.hpp"

#include "cases/reconstruct/check.hpp"
#include "cases/reconstruct/focus.hpp"
#include "cases/reconstruct/observer.hpp"
#include "cases/reconstruct/on_devices.hpp"
#include "cases/reconstruct/pictures.hpp"
#include "cases/reconstruct/solvers.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

using harness::BadInput;
using harness::run::Interrupt;

/// The user is warned if the mean brightness of the frames' borders is at least this share of the
/// frames' mean. Light that illuminates the whole detector gives 1; far fields give 0.1 and less.
constexpr double border_brightness_max = 0.5;

const Solver& find_solver(const std::string& name) {
  for (const Solver& solver : solvers()) {
    if (solver.name == name) return solver;
  }
  std::vector<std::string_view> names;
  for (const Solver& solver : solvers()) names.push_back(solver.name);
  throw BadInput(fmt::format("solver: {}: expected {}", name, fmt::join(names, ", ")));
}

/// Returns the name of the solver whose noise model is `model`. Throws BadInput if there is none.
std::string with_model(const std::string& name, const std::string& model) {
  const std::string_view own = find_solver(name).model;
  if (own == model) return name;
  const std::string other = fmt::format("{}_{}", model, name);
  for (const Solver& solver : solvers()) {
    if (solver.name == other) return other;
  }
  throw BadInput(
      fmt::format("--model: expected {}, the only model of {}; found {}", own, name, model));
}

gpu::Partition find_partition(const std::string& name) {
  const auto& names = gpu::partition_names;
  return static_cast<gpu::Partition>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Throws BadInput if the user asks for another value than the checkpoint has. 0 means that the
/// user did not ask.
void require_same(const char* option, int asked, int kept, const std::string& checkpoint) {
  if (asked == 0 || asked == kept) return;
  throw BadInput(
      fmt::format("{}: expected {}, as in {}, found {}", option, kept, checkpoint, asked));
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
        "--solver: expected {}, as in {}, found {}", from.solver, options.resume, options.solver));
  }
  require_memory(options.resume, from, find_solver(from.solver), data);
  require_same("--modes", options.modes, from.state.modes(data.window), options.resume);
  require_same("--batches", options.batches, from.batches, options.resume);
  return from;
}

/// Throws BadInput if the options leave no step to take, or none to verify.
void require_steps(const Options& options, const Result& from) {
  const StepBudget& budget = options.budget;
  if (budget.iterations < from.iterations) {
    throw BadInput(fmt::format("--iterations: expected at least {}, the number in {}, found {}",
                               from.iterations,
                               options.resume,
                               budget.iterations));
  }
  const std::int64_t done = from.iterations * from.batches;
  const std::int64_t last = budget.iterations * from.batches;
  if (budget.check_every == 0 || last / budget.check_every > done / budget.check_every) return;
  if (last == done) throw BadInput("--verify: expected at least one step to run, found none");
  throw BadInput(fmt::format(
      "--verify: expected a K that divides the number of a step to run, {} to {}, found {}",
      done + 1,
      last,
      budget.check_every));
}

void require_batches(const Solver& solver, int batches, const Dataset& data) {
  if (solver.batches == 1 && batches != 1) {
    throw BadInput(
        fmt::format("--batches: expected 1, because {} takes all frames at once; found {}",
                    solver.name,
                    batches));
  }
  if (batches < 1 || batches > data.count) {
    throw BadInput(
        fmt::format("--batches: expected 1 to {}, the positions; found {}", data.count, batches));
  }
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
  fmt::print("{}, {}, {} on {} in {}, {} partition, {} layout\n",
             from.solver,
             harness::counted(from.batches, "batch", "batches"),
             harness::counted(modes_of(options, from, data), "mode", "modes"),
             harness::counted(problem.cluster.ranks(), "rank", "ranks"),
             options.backend,
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

/// Throws BadInput if an output would replace a file that is needed.
void require_own_places(const Options& options) {
  const std::array<std::pair<const char*, const std::string&>, 4> places{
      {{"the data", options.file},
       {"the output", options.output},
       {"the checkpoint", options.checkpoint},
       {"the pictures", options.pictures}}};
  const auto require_other = [](const std::string& path, const char* what, const std::string& of) {
    if (path.empty() || of.empty() || !harness::run::is_same_file(path, of)) return;
    throw BadInput(fmt::format("{}: expected another file than {}", path, what));
  };
  for (std::size_t i = 0; i < places.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      require_other(places[i].second, places[j].first, places[j].second);
    }
  }
  require_other(options.output, "the checkpoint", options.resume);
}

/// Checks what can be refused before the long work starts. Throws BadInput.
void require_sense(const Options& options) {
  require_own_places(options);
  harness::run::require_writable_file(options.output);
  if (!options.checkpoint.empty()) harness::run::require_writable_file(options.checkpoint);
  if (!options.pictures.empty()) harness::run::require_writable_folder(options.pictures);
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

void add_outputs(CLI::App& command, Options& options) {
  command
      .add_option("--output", options.output, "The file for object, probe, positions and costs.")
      ->capture_default_str()
      ->type_name("OUT.cxi");
  command.add_option("--pictures", options.pictures, "The folder for pictures (PNG).")
      ->type_name("DIR");
  command
      .add_option(
          "--checkpoint", options.checkpoint, "The file for checkpoints, which --resume reads.")
      ->type_name("FILE");
  command
      .add_option("--checkpoint-every",
                  options.budget.save_every,
                  "The number of iterations between checkpoints.")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_option("--resume", options.resume, "Continues from this checkpoint.")
      ->type_name("FILE");
  command
      .add_option("--progress",
                  options.progress,
                  "Shows progress by rewriting one line (terminal) or printing lines. auto: "
                  "terminal if stdout is a terminal.")
      ->check(CLI::IsMember({"auto", "terminal", "lines"}))
      ->take_last()
      ->capture_default_str();
}

void add_devices(CLI::App& command, Options& options) {
  command
      .add_option(
          "--backend", options.backend, "The backend that runs the ranks: sim, mpi or cuda.")
      ->capture_default_str();
  command
      .add_option("--ranks", options.ranks, "The number of ranks that share the work. Default: 1.")
      ->check(CLI::Range(1, 64));
  command
      .add_option("--partition",
                  options.partition,
                  "The method that distributes the positions over the ranks.")
      ->check(CLI::IsMember(
          std::vector<std::string>(gpu::partition_names.begin(), gpu::partition_names.end())))
      ->capture_default_str();
  command
      .add_option("--layout",
                  options.layout,
                  "The part of the object on each rank: the whole object (replicated) or the part "
                  "under its windows (tiles).")
      ->check(CLI::IsMember({"replicated", "tiles"}))
      ->capture_default_str();
}

/// Throws BadInput if the user asks to start from the file's object and it is missing or unusable.
void require_start(const Options& options, const Dataset& data) {
  if (options.start != "file" || data.has_object) return;
  if (!data.object_fault.empty()) throw BadInput("--start file: " + data.object_fault);
  throw BadInput("--start file: expected entry_1/image_1/data, found none");
}

/// Throws BadInput if the sample would be so far from the focus that the probe does not fit into
/// its window.
void require_near_focus(const Options& options, const Dataset& data, const Shards& shards) {
  if (!options.defocus) return;
  const double most = defocus_most(data, shards.mean_frame());
  if (std::abs(*options.defocus) <= most) return;
  throw BadInput(fmt::format(
      "--defocus: expected at most {:.3g} metres, at which the probe fills its window; found {}",
      most,
      *options.defocus));
}

/// Throws BadInput if the user gives a defocus although the file has a probe.
void require_no_probe(const Options& options, const Dataset& data) {
  if (!options.defocus || !data.has_probe) return;
  throw BadInput(fmt::format("--defocus: expected data without a probe; {} has one", options.file));
}

/// Throws BadInput if the arrays that the solver remembers for every position do not fit into this
/// machine's memory. They need it twice: on the devices, and where the state is saved.
void require_room_for_waves(const Solver& solver, const Problem& problem, int modes) {
  spec::Scene scene = problem.data.scene();
  scene.modes = modes;
  double bytes = 0;
  for (const spec::Array array : solver.remembers) {
    if (!spec::is_per_position(scene, array)) continue;
    bytes += 2.0 * sizeof(float) * static_cast<double>(spec::components(scene, array)) *
             static_cast<double>(problem.data.count);
  }
  harness::run::require_memory(
      fmt::format("--solver {}", solver.name), "the exit waves of all positions", bytes);
}

/// Throws BadInput if the ranks' objects and exit waves do not fit into this machine's memory.
void require_room(const Solver& solver, const Problem& problem, int modes) {
  // Devices with queues have their own memory and report themselves when it is used up.
  if (problem.cluster.queue(problem.cluster.local().front()) != nullptr) return;
  require_room_for_waves(solver, problem, modes);
  if (problem.layout == Layout::tiles) return;
  const double pixels = static_cast<double>(problem.data.object.size());
  const int ranks = problem.cluster.ranks();
  const double exchanged =
      static_cast<double>(stretch_max) * sizeof(decltype(problem.data.object)::value_type);
  harness::run::require_memory(
      "--ranks", ranks, ranks * (pixels * static_cast<double>(solver.bytes_per_pixel) + exchanged));
}

/// Throws BadInput if the reference does not fit into this machine's memory. The reference runs in
/// this process on any backend.
void require_room_for_checks(const Options& options, const Result& from, const Dataset& data) {
  if (options.budget.check_every == 0) return;
  const int modes = modes_of(options, from, data);
  harness::run::require_memory(fmt::format("--verify {}", options.budget.check_every),
                               "the reference's arrays of a step's frames",
                               check_bytes(data, modes, from.batches));
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
  require_start(options, data);
  require_no_probe(options, data);
  Result from = begin(options, data);
  const Solver& solver = find_solver(from.solver);
  require_batches(solver, from.batches, data);
  require_steps(options, from);
  Problem problem{.data = data,
                  .cluster = cluster,
                  .partition = find_partition(options.partition),
                  .layout = options.layout == "tiles" ? Layout::tiles : Layout::replicated,
                  .batches = from.batches};
  require_room(solver, problem, modes_of(options, from, data));
  require_room_for_checks(options, from, data);
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

void add_command(CLI::App& app,
                 int& exit_status,
                 const std::function<int(const Options& options)>& run) {
  CLI::App* command = app.add_subcommand(
      "reconstruct", "Reconstructs a scan from a CXI file on one or more ranks.");
  const auto options = std::make_shared<Options>();
  command->add_option("file", options->file, "The file of the scan: CXI, or ptypy's .ptyd.")
      ->required()
      ->type_name("FILE.cxi");
  std::string known;
  for (const Solver& solver : solvers()) {
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", solver.name, solver.summary);
  }
  command->add_option("--solver", options->solver, known);
  command
      ->add_option(
          "--model", options->model, "The model of the noise. poisson needs conjugate_gradient.")
      ->check(CLI::IsMember({"gaussian", "poisson"}))
      ->needs("--solver");
  add_devices(*command, *options);
  command
      ->add_option("--iterations",
                   options->budget.iterations,
                   "The number of passes over all frames, including those before --resume.")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command
      ->add_option(
          "--batches",
          options->batches,
          "The number N of steps per iteration. Step b takes frames b, b+N, ... Default: 16, or "
          "fewer so that each step has 4 frames; 1 for solvers that take all frames at once.")
      ->check(CLI::Range(1, 1000000));
  command
      ->add_option("--modes",
                   options->modes,
                   "The number of incoherent modes of the probe. Default: the number in the data.")
      ->check(CLI::Range(1, 64));
  command
      ->add_option("--start",
                   options->start,
                   "The object to start from: a flat object or the object of the file.")
      ->check(CLI::IsMember({"flat", "file"}))
      ->capture_default_str();
  command
      ->add_option("--defocus",
                   options->defocus,
                   "The distance of the sample behind the focus in metres, if the data have no "
                   "probe. Default: the distance that fits best.")
      ->type_name("METRES");
  command
      ->add_option("--verify",
                   options->budget.check_every,
                   "Repeats every K-th step in the reference, from the same state.")
      ->check(CLI::Range(1, 1000000))
      ->type_name("K");
  add_outputs(*command, *options);
  command->get_option("--resume")->excludes(command->get_option("--start"));
  command->get_option("--resume")->excludes(command->get_option("--defocus"));
  command->callback([options, run, &exit_status] {
    if (!options->model.empty()) options->solver = with_model(options->solver, options->model);
    if (options->progress == "auto") {
      options->progress = ::isatty(STDOUT_FILENO) == 1 ? "terminal" : "lines";
    }
    exit_status = run(*options);
  });
}

int run_command(int argc,
                char** argv,
                bool answers,
                const std::function<int(const Options& options)>& run) {
  int exit_status = harness::run::status_held;
  CLI::App app("Reconstructs a scan from a CXI file on the devices of this program.");
  add_command(app, exit_status, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) throw;
    return answers ? app.exit(error) : harness::run::status_held;
  }
  return exit_status;
}

}  // namespace rankcheck::cases::reconstruct
