#include <memory>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "gpu/ptycho/exchange/partition.hpp"

#include "harness/case/case.hpp"
#include "harness/run/exit_status.hpp"

#include "cases/reconstruct/reconstruct_command.hpp"
#include "cases/reconstruct/solvers.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

/// Returns the name of the solver whose noise model is `model`. Throws BadInput if there is none.
std::string with_model(const std::string& name, const std::string& model) {
  const std::string_view own = find_solver(name).model;
  if (own == model) return name;
  std::string other = fmt::format("{}_{}", model, name);
  for (const Solver& solver : solvers()) {
    if (solver.name == other) return other;
  }
  throw harness::BadInput(
      fmt::format("--model: got {}, expected {}, the only model of {}", model, own, name));
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
      .add_option("--backend",
                  options.backend,
                  "The backend that runs the ranks: sim, mpi, cuda or hybrid.")
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

}  // namespace

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
