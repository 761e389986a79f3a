#include "cases/bench/large_call.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/case/image.hpp"

#include "cases/backends/cuda.hpp"
#include "cases/backends/worker_command.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases::bench {

namespace {

double seconds_of(const std::vector<harness::Stamp>& stamps) {
  std::int64_t entered = stamps.front().entered;
  std::int64_t left = stamps.front().left;
  for (const harness::Stamp& stamp : stamps) {
    entered = std::min(entered, stamp.entered);
    left = std::max(left, stamp.left);
  }
  return 1e-9 * static_cast<double>(left - entered);
}

}  // namespace

double image_bytes(const harness::Case& c) {
  harness::ImageLayout layout;
  double bytes = 0;
  for (int rank = 0; rank < c.ranks; ++rank) {
    lay_out(
        reference::contract_named(c.operation), c, rank, harness::ResultPlace::own_block, layout);
    bytes += static_cast<double>(layout.size);
  }
  return bytes;
}

Run stamped_run(Bench& bench, const harness::Case& c) {
  harness::Backend& backend = bench.backend(c.backend);
  const auto observation = std::make_shared<harness::Observation>();
  return [&backend, c, observation] {
    backend.run({&c, 1}, *observation);
    if (observation->status != harness::RunStatus::completed) {
      throw std::runtime_error(observation->reason);
    }
    return seconds_of(observation->stages[0].stamps);
  };
}

std::function<Times()> times_on_cuda(const Bench& bench, const harness::Case& c) {
  const TimesRequest request{.c = c, .seconds_min = bench.options().seconds_min};
  return [request, stop = bench.options().stop] {
    // Inputs are made, and results read, faster than this.
    constexpr double bytes_per_s = 25e6;
    const double timeout_s = 120 + 10 * request.seconds_min + image_bytes(request.c) / bytes_per_s;
    const WorkerAnswer answer = ask_worker(cuda_worker_command({"--time", to_json(request).dump()}),
                                           "rankcheck-worker-cuda",
                                           timeout_s,
                                           stop);
    if (answer.verdict != harness::Verdict::passed) throw std::runtime_error(answer.reason);
    return times_from_json(answer.said);
  };
}

harness::Case large_case(std::string_view operation,
                         std::string_view algorithm,
                         int ranks,
                         std::int64_t bytes) {
  const spec::Contract& contract = reference::contract_named(operation);
  harness::Case c;
  c.operation = operation;
  c.algorithm = algorithm;
  c.ranks = ranks;
  if (collective(contract).reduces) collective(c).op = spec::ReduceOp::sum;
  const std::int64_t elements = bytes / spec::info(c.type).bytes;
  const auto n = spec::to_size(ranks);
  if (collective(contract).sizes == spec::Sizes::counts_per_rank)
    c.counts.assign(n, elements / ranks);
  // Strips of 64 elements, as the rows of a small tile.
  constexpr std::int64_t strip = 64;
  if (collective(contract).sizes == spec::Sizes::lengths_along_axis) {
    collective(c).outer = elements / ranks / strip;
    collective(c).inner = strip;
    c.counts.assign(n, 1);
  }
  if (collective(contract).sizes == spec::Sizes::counts_per_pair)
    c.counts.assign(n * n, elements / ranks);
  // As many arrays as the gradients of a small network.
  constexpr std::size_t arrays = 16;
  if (collective(contract).sizes == spec::Sizes::counts_per_array)
    c.counts.assign(arrays, elements / static_cast<std::int64_t>(arrays));
  if (collective(contract).sizes != spec::Sizes::count) return c;
  c.count = 1;
  const spec::Extents unit = spec::extents_of(contract, collective_call(c), 0);
  c.count = elements / std::max({unit.send_size, unit.recv_size, std::int64_t{1}});
  return c;
}

}  // namespace rankcheck::cases::bench
