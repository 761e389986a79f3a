#include "cases/bench/bench.hpp"

#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cases/bench/simulated_time.hpp"
#include "cases/commands/command.hpp"

namespace rankcheck::cases {

namespace {

/// Measures what is asked for on the backends that can run here; whether all went well.
bool measure(bench::Options options, bool backends_named) {
  std::erase_if(options.backends, [backends_named](const std::string& each) {
    if (backends_named) require_backend(each);
    const NamedBackend backend = find_backend(each);
    if (backend.unavailable.empty()) return false;
    fmt::print("{}: skipped: {}\n", each, backend.unavailable);
    return true;
  });
  return bench::measure(options);
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "bench", "measures the implementations, or times their plans on a topology");
  auto options = std::make_shared<bench::Options>();
  auto virtual_time = std::make_shared<bench::TopologyOptions>();
  CLI::Option* backends =
      command
          ->add_option("--backend",
                       options->backends,
                       "backends to measure: sim, mpi, cuda, nccl; without, sim and mpi")
          ->delimiter(',');
  command->add_option("--json", options->json_path, "also write the results to this file");
  CLI::Option* seconds =
      command
          ->add_option("--min-time", options->seconds_min, "seconds for each measurement, at least")
          ->check(CLI::Range(0.01, 60.0));
  CLI::Option* filter =
      command->add_option("--filter", options->filters, "measure these names: patterns")
          ->delimiter(',');
  command
      ->add_option("--bytes",
                   options->bytes,
                   "bytes of one rank's buffer in large collectives; 4 MiB, on cuda 64 MiB")
      ->check(CLI::Range(std::int64_t{4096}, std::int64_t{1} << 34));
  command
      ->add_option(
          "--frames", options->frames, "frames that operators are measured on; 516, on cuda 2048")
      ->check(CLI::Range(1, 4096));
  command
      ->add_option("--width", options->width, "pixels along each side of a frame; 128, on cuda 256")
      ->check(CLI::Range(8, 1024));
  CLI::Option* topology =
      command
          ->add_option("--topology",
                       virtual_time->topology,
                       "time the plans on this machine instead: a name or a file")
          ->excludes(backends)
          ->excludes(seconds)
          ->excludes(filter);
  command->add_option("--ranks", virtual_time->ranks, "ranks for --topology")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16))
      ->needs(topology);
  command
      ->add_option("--operation", virtual_time->operation, "operations for --topology, a pattern")
      ->needs(topology);
  command
      ->add_option("--algorithm", virtual_time->algorithm, "algorithms for --topology, a pattern")
      ->needs(topology);
  command->callback([options, virtual_time, backends, topology, &context] {
    if (topology->count() == 0) {
      const bool well = measure(*options, backends->count() > 0);
      context.exit_status = well ? status_held : status_failed;
      return;
    }
    virtual_time->bytes = options->bytes.value_or(virtual_time->bytes);
    virtual_time->json_path = options->json_path;
    bench::simulate(*virtual_time);
  });
}

}  // namespace rankcheck::cases
