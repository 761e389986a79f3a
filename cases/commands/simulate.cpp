#include "cases/reconstruct/simulate.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "harness/base/table.hpp"
#include "harness/case/case.hpp"
#include "harness/run/memory.hpp"
#include "harness/run/outputs.hpp"

#include "cases/commands/options.hpp"

namespace rankcheck::cases {

namespace {

using reconstruct::Dataset;
using reconstruct::ScanPath;
using reconstruct::Simulation;

struct SimulateOptions {
  Simulation simulation;
  std::string path;
  std::string scan = "raster";
  std::string noise = "none";
  /// Share of the window's width that neighbouring positions on a line have in common.
  double overlap = 0.85;
  double step = 0;
};

/// The most bytes that a pixel of a mode takes while the probe is made and a frame is computed from
/// it. Some of the arrays are in single and some in double precision.
constexpr double probe_bytes_per_pixel = 128;

const std::map<std::string, ScanPath> scan_paths{
    {"raster", ScanPath::raster}, {"spiral", ScanPath::spiral}, {"random", ScanPath::random}};

void simulate(SimulateOptions options) {
  Simulation& simulation = options.simulation;
  simulation.path = scan_paths.at(options.scan);
  simulation.poisson = options.noise == "poisson";
  if (simulation.probe == 0) simulation.probe = simulation.detector;
  simulation.step = options.step > 0 ? options.step : (1 - options.overlap) * simulation.probe;
  if (simulation.probe > simulation.detector) {
    throw harness::BadInput(fmt::format("--probe-size: got {}, expected at most --detector {}",
                                        simulation.probe,
                                        simulation.detector));
  }
  if (simulation.modes > simulation.probe * simulation.probe) {
    throw harness::BadInput(
        fmt::format("--modes: got {}, expected at most {} for a probe of {} pixels",
                    simulation.modes,
                    simulation.probe * simulation.probe,
                    simulation.probe));
  }
  const std::int64_t pixels = std::int64_t{simulation.detector} * simulation.detector;
  // The frames, the frames in the file's order, the file made in memory, and the image of this
  // file.
  constexpr double copies = 4;
  harness::run::require_memory(
      "--positions",
      fmt::format("{} frames of {} pixels and their file", simulation.positions, pixels),
      copies * sizeof(float) * simulation.positions * static_cast<double>(pixels),
      harness::run::MemoryShare::three_quarters);
  harness::run::require_memory(
      "--modes",
      fmt::format("{} modes of the probe", simulation.modes),
      probe_bytes_per_pixel * simulation.modes * simulation.probe * simulation.probe);
  harness::run::require_writable_file(options.path);
  const Dataset data = reconstruct::simulate(simulation);
  const std::string title = fmt::format("simulated: {} scan, step {:.4g}, noise {}, seed {}",
                                        options.scan,
                                        simulation.step,
                                        options.noise,
                                        simulation.seed);
  reconstruct::write_dataset(options.path, data, title, simulation.poisson);
  fmt::print("seed {}\n{}: {} of {} × {}, object of {} × {}, {} of {} × {}\n",
             simulation.seed,
             options.path,
             harness::counted(data.count, "frame", "frames"),
             data.detector,
             data.detector,
             data.rows,
             data.cols,
             harness::counted(data.modes, "probe mode", "probe modes"),
             data.window,
             data.window);
}

}  // namespace

void add_simulate(CLI::App& app, Context& /*context*/) {
  CLI::App* command = app.add_subcommand(
      "simulate", "Writes a simulated scan to a CXI file, with its object and probe.");
  const auto options = std::make_shared<SimulateOptions>();
  Simulation& simulation = options->simulation;
  simulation.probe = 0;
  const AddOption add{*command};
  const AddOption add_with_default{*command, true};
  add("file OUT.cxi", options->path, "The file to write.")->required();
  add_with_default("--scan", options->scan, "The path of the scan.")
      ->check(CLI::IsMember(scan_paths));
  add_with_default("--positions", simulation.positions, "The number of scan positions.")
      ->check(CLI::Range(1, 1000000));
  add_with_default("--detector", simulation.detector, "The width of the frames in pixels.")
      ->check(CLI::Range(1, 4096));
  add("--probe-size",
      simulation.probe,
      "The width of the probe in pixels. Default: the width of the frames.")
      ->check(CLI::Range(1, 4096));
  add("--object-size",
      simulation.object,
      "The width of the square object in pixels. Default: as wide as the scan needs.")
      ->check(CLI::Range(1, 1 << 14));
  add_with_default("--modes", simulation.modes, "The number of incoherent modes of the probe.")
      ->check(CLI::Range(1, 64));
  CLI::Option* overlap =
      add_with_default("--overlap",
                       options->overlap,
                       "The overlap of neighbouring positions as a share of the probe's width.")
          ->check(CLI::Range(0.0, 0.999));
  add("--step", options->step, "The distance between neighbouring positions in pixels.")
      ->check(CLI::Range(1e-3, 1e4))
      ->excludes(overlap);
  add_with_default(
      "--jitter",
      simulation.jitter,
      "The random displacement of the positions of a raster or spiral, as a share of the step.")
      ->check(CLI::Range(0.0, 1.0));
  add_with_default(
      "--noise", options->noise, "The noise of the frames; poisson: counts of random photons.")
      ->check(CLI::IsMember({"none", "poisson"}));
  add_with_default(
      "--photons", simulation.photons, "The number of photons of the probe in one frame.")
      ->check(CLI::Range(1e-3, 1e9));
  add_with_default("--seed", simulation.seed, "The seed of all random numbers.");
  command->callback([options] { simulate(*options); });
}

}  // namespace rankcheck::cases
