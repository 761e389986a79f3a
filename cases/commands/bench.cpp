#include "cases/bench/bench.hpp"

#include <memory>

#include <fmt/format.h>

#include "harness/run/exit_status.hpp"
#include "harness/run/option_values.hpp"
#include "harness/run/outputs.hpp"

#include "cases/backends/registry.hpp"
#include "cases/bench/simulated_time.hpp"
#include "cases/commands/options.hpp"

namespace rankcheck::cases {

namespace {

/// Parses numbers of ranks that are separated by commas. Throws BadInput.
std::vector<int> parse_ranks(const std::string& text) {
  constexpr int ranks_max = 1 << 16;
  std::vector<int> all;
  for (const std::string& each : harness::run::split_list("--ranks", text)) {
    const bool is_short = each.size() <= std::to_string(ranks_max).size();
    const int ranks = harness::run::is_whole_number(each) && is_short ? std::stoi(each) : 0;
    if (ranks < 1 || ranks > ranks_max) {
      throw harness::BadInput(
          fmt::format("--ranks: {:.60}: expected whole numbers from 1 to {}", each, ranks_max));
    }
    all.push_back(ranks);
  }
  return all;
}

/// Runs the requested measurements on the backends that can run here. Returns whether all
/// succeeded.
bool measure(bench::Options options, bool backends_named) {
  std::erase_if(options.backends, [backends_named](const std::string& each) {
    if (backends_named) available_backends().require(each);
    const harness::run::NamedBackend backend = available_backends().find(each);
    if (backend.unavailable.empty()) return false;
    fmt::print("{}: skipped: {}\n", each, backend.unavailable);
    return true;
  });
  return bench::measure(options);
}

/// The lists of the filters, as the user typed them.
struct Lists {
  std::vector<std::string> backends;
  std::vector<std::string> filters;
};

/// Adds the options that set the sizes of what is measured. `options` must outlive the command
/// line.
void add_sizes(CLI::App& command, bench::Options& options) {
  const AddOption add{command};
  add("--bytes",
      options.bytes,
      "The bytes of one rank's buffer in large collectives. Default: 4 MiB; on cuda 64 MiB.")
      ->check(CLI::Range(std::int64_t{4096}, std::int64_t{1} << 34));
  add("--frames",
      options.frames,
      "The number of frames that operators are measured on. Default: 516; on cuda 2048.")
      ->check(CLI::Range(1, 4096));
  add("--width", options.width, "The pixels along each side of a frame. Default: 128; on cuda 256.")
      ->check(CLI::Range(8, 1024));
}

/// Adds the options that time plans instead of measuring. `options` must outlive the command line.
CLI::Option* add_topology(CLI::App& command, bench::TopologyOptions& options) {
  const AddOption add{command};
  CLI::Option* topology =
      add("--topology",
          options.topology,
          "Times the plans on this topology instead of measuring. Takes a name or a file.");
  command
      .add_option_function<std::string>(
          "--ranks",
          [&options](const std::string& text) { options.ranks = parse_ranks(text); },
          "The numbers of ranks for --topology.")
      ->type_name("LIST")
      ->needs(topology);
  add("--operation LIST",
      options.operations,
      "Selects the operations for --topology by patterns. May be repeated.")
      ->needs(topology);
  add("--algorithm LIST",
      options.algorithms,
      "Selects the algorithms for --topology by patterns. May be repeated.")
      ->needs(topology);
  return topology;
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "bench", "Measures the implementations, or times their plans on a topology.");
  auto options = std::make_shared<bench::Options>();
  auto virtual_time = std::make_shared<bench::TopologyOptions>();
  const auto lists = std::make_shared<Lists>();
  const AddOption add{*command};
  CLI::Option* backends =
      add("--backend LIST",
          lists->backends,
          "The backends to measure: sim, mpi, cuda, nccl, hybrid. May be repeated. Default: sim, "
          "mpi.");
  add("--json", options->json_path, "Also writes the results to this file as JSON.");
  CLI::Option* seconds =
      add("--min-time", options->seconds_min, "The least number of seconds for each measurement.")
          ->check(CLI::Range(0.01, 60.0));
  CLI::Option* repetitions =
      add("--repetitions",
          options->repetitions,
          "How often each measurement is made, which shows its noise. Default: 1.")
          ->check(CLI::Range(1, 100));
  CLI::Option* filter =
      add("--filter LIST",
          lists->filters,
          "Measures only names that match one of these patterns. May be repeated.");
  add_sizes(*command, *options);
  CLI::Option* topology = add_topology(*command, *virtual_time);
  for (CLI::Option* each : {backends, seconds, repetitions, filter}) topology->excludes(each);
  command->callback([options, virtual_time, lists, topology, &context] {
    if (!options->json_path.empty()) harness::run::require_writable_file(options->json_path);
    if (topology->count() == 0) {
      const bool names_backends = !lists->backends.empty();
      if (names_backends) {
        options->backends = harness::run::split_lists("--backend", lists->backends);
      }
      if (!lists->filters.empty()) {
        options->filters = harness::run::split_lists("--filter", lists->filters);
      }
      const harness::run::Interrupt interrupt;
      options->stop = interrupt.stop();
      context.exit_status = interrupt.status_of("everything was measured", [&] {
        const bool well = measure(*options, names_backends);
        return well ? harness::run::status_held : harness::run::status_failed;
      });
      return;
    }
    virtual_time->operations = harness::run::split_lists("--operation", virtual_time->operations);
    virtual_time->algorithms = harness::run::split_lists("--algorithm", virtual_time->algorithms);
    virtual_time->bytes = options->bytes.value_or(virtual_time->bytes);
    virtual_time->json_path = options->json_path;
    bench::simulate(*virtual_time);
  });
}

}  // namespace rankcheck::cases
