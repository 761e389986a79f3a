#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "harness/table.hpp"

#include "cases/commands/command.hpp"
#include "cases/commands/interrupt.hpp"
#include "cases/reconstruct/pictures.hpp"
#include "cases/reconstruct/solvers.hpp"

namespace rankcheck::cases {

namespace {

namespace fs = std::filesystem;
using harness::BadInput;
using reconstruct::Course;
using reconstruct::Dataset;
using reconstruct::Layout;
using reconstruct::Problem;
using reconstruct::Result;
using reconstruct::Solver;
using reconstruct::StepCheck;

struct ReconstructOptions {
  std::string file;
  std::string solver;
  std::string backend = "sim";
  int ranks = 1;
  std::string partition = "compact";
  std::string layout = "replicated";
  std::string start = "flat";
  Course course{.save_every = 10};
  /// 0: as the data's probe.
  int modes = 0;
  std::string checkpoint;
  std::string resume;
  std::string output = "reconstruction.cxi";
  std::string pictures;
};

const Solver& find_solver(const std::vector<Solver>& solvers, const std::string& name) {
  for (const Solver& solver : solvers) {
    if (solver.name == name) return solver;
  }
  std::vector<std::string_view> names;
  for (const Solver& solver : solvers) names.push_back(solver.name);
  throw BadInput(fmt::format("solver: {}: expected {}", name, fmt::join(names, ", ")));
}

gpu::Partition find_partition(const std::string& name) {
  const auto& names = gpu::partition_names;
  return static_cast<gpu::Partition>(std::find(names.begin(), names.end(), name) - names.begin());
}

/// Tells how a reconstruction goes: on a terminal one line that is rewritten, elsewhere one a step.
class StepProgress {
 public:
  explicit StepProgress(std::int64_t steps, std::int64_t done)
      : is_terminal_(::isatty(STDOUT_FILENO) == 1), steps_(steps), first_(done) {}

  void show(std::int64_t step, double cost, const std::optional<StepCheck>& check) {
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    const double each = elapsed.count() / static_cast<double>(step - first_);
    std::string line =
        fmt::format("step {}/{}  cost before it {:.6g}  {:.3g} s a step, {:.0f} s left",
                    step,
                    steps_,
                    cost,
                    each,
                    each * static_cast<double>(steps_ - step));
    if (check) line += fmt::format("  error/bound {:.3g} ({})", check->ratio, check->place);
    fmt::print("{}{}{}", is_terminal_ ? "\r\x1b[K" : "", line, is_terminal_ && !check ? "" : "\n");
    std::fflush(stdout);
  }

  /// Takes the line away.
  void clear() const {
    if (is_terminal_) fmt::print("\r\x1b[K");
  }

 private:
  bool is_terminal_;
  std::int64_t steps_;
  /// Steps that an earlier run made.
  std::int64_t first_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The state to go on from: that of the checkpoint, or the start.
Result begin(const std::vector<Solver>& solvers,
             const ReconstructOptions& options,
             const Dataset& data) {
  Result from;
  if (options.resume.empty()) {
    from.solver = options.solver.empty() ? solvers.front().name : options.solver;
    const int modes = options.modes == 0 ? data.modes : options.modes;
    from.state = reconstruct::starting_state(data, modes, options.start == "flat");
    return from;
  }
  from = reconstruct::read_result(options.resume, data);
  if (!options.solver.empty() && options.solver != from.solver) {
    throw BadInput(fmt::format(
        "--solver: expected {}, as in {}, found {}", from.solver, options.resume, options.solver));
  }
  const auto modes = static_cast<std::int64_t>(from.state.probe.size()) / data.window / data.window;
  if (options.modes != 0 && options.modes != modes) {
    throw BadInput(fmt::format(
        "--modes: expected {}, as in {}, found {}", modes, options.resume, options.modes));
  }
  return from;
}

void describe(const ReconstructOptions& options, const Dataset& data, const Result& from) {
  fmt::print("{}: {} frames of {} × {}, {}; object of {} × {}, pixels of {:.3g} × {:.3g} nm\n",
             options.file,
             harness::grouped(data.count),
             data.detector,
             data.detector,
             data.has_probe ? "probe from the file" : "no probe: starting in focus",
             data.rows,
             data.cols,
             1e9 * data.object_pixel_height(),
             1e9 * data.object_pixel_width());
  fmt::print("{} on {}, {} {}, partition {}, layout {}\n",
             from.solver,
             options.backend,
             options.ranks,
             options.ranks == 1 ? "rank" : "ranks",
             options.partition,
             options.layout);
}

/// What must be refused before long work.
void require_sense(const ReconstructOptions& options) {
  require_backend(options.backend);
  std::error_code absent;
  for (const std::string& written : {options.output, options.checkpoint}) {
    if (!written.empty() && fs::equivalent(written, options.file, absent)) {
      throw BadInput(fmt::format("{}: expected another file than the data", written));
    }
  }
}

int reconstruct_file(const std::vector<Solver>& solvers, const ReconstructOptions& options) {
  require_sense(options);
  const Dataset data = reconstruct::read_dataset(options.file);
  Result from = begin(solvers, options, data);
  const Solver& solver = find_solver(solvers, from.solver);
  const Problem problem{.data = data,
                        .backend = options.backend,
                        .ranks = options.ranks,
                        .partition = find_partition(options.partition),
                        .layout = options.layout == "tiles" ? Layout::tiles : Layout::replicated};
  describe(options, data, from);
  const Interrupt interrupt;
  StepProgress progress(options.course.steps, from.steps);
  bool has_failed = false;
  const auto save = [&](const Result& result) {
    if (!options.checkpoint.empty()) write_result(options.checkpoint, data, result, true);
  };
  const auto stepped = [&](std::int64_t step, double cost, const std::optional<StepCheck>& check) {
    has_failed = has_failed || (check && !(check->ratio <= 1));
    progress.show(step, cost, check);
  };
  const Result result =
      reconstruct::reconstruct(solver,
                               problem,
                               std::move(from),
                               options.course,
                               {.stepped = stepped, .save = save, .is_interrupted = [&] {
                                  return interrupt.requested().load();
                                }});
  progress.clear();
  save(result);
  write_result(options.output, data, result, false);
  if (!options.pictures.empty()) {
    write_pictures(options.pictures, data, result.state.object, result.state.probe, result.costs);
  }
  fmt::print("cost {:.6g} after {} steps; {}{}{}\n",
             result.costs.back(),
             result.steps,
             options.output,
             options.pictures.empty() ? "" : ", pictures in ",
             options.pictures);
  if (!std::isfinite(result.costs.back())) has_failed = true;
  if (has_failed) fmt::print("falsified: the cost is no number or a step is beyond its bound\n");
  return has_failed ? status_failed : interrupt.exit_status();
}

void add_outputs(CLI::App& command, ReconstructOptions& options) {
  command.add_option("--output", options.output, "The file for object, probe, positions and costs")
      ->capture_default_str()
      ->type_name("OUT.cxi");
  command.add_option("--pictures", options.pictures, "Folder for pictures (PNG)")->type_name("DIR");
  command.add_option("--checkpoint", options.checkpoint, "A file to resume from")
      ->type_name("FILE");
  command.add_option("--checkpoint-every", options.course.save_every, "Steps between checkpoints")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command.add_option("--resume", options.resume, "Go on from a checkpoint")->type_name("FILE");
}

}  // namespace

void add_reconstruct(CLI::App& app,
                     Context& context,
                     const std::vector<reconstruct::Solver>& solvers) {
  if (solvers.empty()) return;
  CLI::App* command =
      app.add_subcommand("reconstruct", "Reconstructs a scan from a CXI file over many devices");
  const auto options = std::make_shared<ReconstructOptions>();
  command->add_option("file", options->file, "The data: CXI, or ptypy's .ptyd")
      ->required()
      ->type_name("FILE.cxi");
  std::string known;
  for (const Solver& solver : solvers) {
    known += fmt::format("{}{}: {}", known.empty() ? "" : "; ", solver.name, solver.summary);
  }
  command->add_option("--solver", options->solver, known);
  command->add_option("--backend", options->backend, "Where the ranks live")->capture_default_str();
  command->add_option("--ranks", options->ranks, "Ranks that share the work")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  command
      ->add_option("--partition", options->partition, "How the scan is shared out among the ranks")
      ->check(CLI::IsMember(
          std::vector<std::string>(gpu::partition_names.begin(), gpu::partition_names.end())))
      ->capture_default_str();
  command->add_option("--layout", options->layout, "Every rank has the whole object, or its tile")
      ->check(CLI::IsMember({"replicated", "tiles"}))
      ->capture_default_str();
  command->add_option("--iterations", options->course.steps, "Steps, with those before --resume")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  command->add_option("--modes", options->modes, "Incoherent modes; default: as the data's probe")
      ->check(CLI::Range(1, 64));
  command->add_option("--start", options->start, "Start from a flat object, or from the file's")
      ->check(CLI::IsMember({"flat", "file"}))
      ->capture_default_str();
  command
      ->add_option("--verify",
                   options->course.check_every,
                   "Repeat every K-th step in the reference, from the same state")
      ->check(CLI::Range(1, 1000000))
      ->type_name("K");
  add_outputs(*command, *options);
  command->callback(
      [options, &context, &solvers] { context.exit_status = reconstruct_file(solvers, *options); });
}

}  // namespace rankcheck::cases
