#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/simulator.hpp"

#include "cases/bench/bench.hpp"
#include "cases/bench/large_call.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases::bench {

namespace {

using harness::Case;

/// Operations whose large calls are measured.
constexpr std::array<std::string_view, 3> measured{"all_reduce", "all_gather", "all_to_all"};

bool is_measured(std::string_view operation) {
  return std::find(measured.begin(), measured.end(), operation) != measured.end();
}

std::string name_of(std::string_view backend, const Case& c, std::int64_t bytes) {
  return fmt::format("large/{}/{}/{}/{}x{}", backend, c.operation, c.algorithm, c.ranks, bytes);
}

/// A large plan on simulated devices, with all checks of the plan. The buffers are filled once.
class SimulatedCall {
 public:
  SimulatedCall(const gpu::plan::Algorithm& algorithm, Case c)
      : algorithm_(algorithm),
        case_(std::move(c)),
        contract_(reference::contract_named(case_.operation)) {
    const std::int64_t bytes = spec::info(case_.type).bytes;
    const auto allocate = [&](std::int64_t elements) {
      return memory_.emplace_back(spec::to_size(elements * bytes)).data();
    };
    for (int r = 0; r < case_.ranks; ++r) {
      const spec::Extents extents = spec::extents_of(contract_, collective_call(case_), r);
      buffers_.push_back({.send = allocate(extents.send_size),
                          .recv = allocate(extents.recv_size),
                          .send_bytes = extents.send_size * bytes,
                          .recv_bytes = extents.recv_size * bytes});
    }
  }

  double run() {
    const auto start = std::chrono::steady_clock::now();
    const spec::Call call = collective_call(case_);
    builder_.begin(plan_, contract_, call, {});
    algorithm_.plan(builder_);
    const auto& report = simulator_.run(plan_, buffers_, {});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (report.status == gpu::sim::Status::completed) return took.count();
    throw std::runtime_error(report.text);
  }

 private:
  const gpu::plan::Algorithm& algorithm_;
  Case case_;
  const spec::Contract& contract_;
  std::vector<std::vector<std::byte>> memory_;
  std::vector<gpu::sim::RankBuffers> buffers_;
  gpu::sim::Simulator simulator_;
  gpu::plan::Builder builder_;
  gpu::plan::Plan plan_;
};

/// Returns a floor: one memcpy of every rank's buffer.
std::function<Run()> copies(Bench& bench, int ranks, std::int64_t bytes) {
  return [&bench, ranks, bytes]() -> Run {
    return [seconds = bench.copy_floor_seconds(ranks, bytes)] { return seconds; };
  };
}

void add_simulated(Bench& bench) {
  const std::int64_t bytes = bench.sizes("sim").bytes;
  for (const gpu::Implementation& each : gpu::implementations()) {
    if (!is_measured(each.operation)) continue;
    const Case c = large_case(each.operation, each.algorithm.name, ranks_of("sim"), bytes);
    bench.add({.name = name_of("sim", c, bytes),
               .backend = "sim",
               .prepare = [&each, c]() -> Run {
                 const auto call = std::make_shared<SimulatedCall>(each.algorithm, c);
                 return [call] { return call->run(); };
               },
               .prepare_floor = copies(bench, c.ranks, bytes),
               .large_ranks = c.ranks});
  }
}

/// Returns the bytes that the plan of a call must move.
double plan_bytes(const gpu::plan::Algorithm& algorithm, const Case& c) {
  const spec::Call call = collective_call(c);
  gpu::plan::Builder builder;
  gpu::plan::Plan plan;
  builder.begin(plan, reference::contract_named(c.operation), call, {});
  algorithm.plan(builder);
  return moved_bytes(plan, spec::info(c.type).bytes);
}

void add_on_cuda(Bench& bench) {
  const std::int64_t bytes = bench.sizes("cuda").bytes;
  for (const gpu::Implementation& each : gpu::implementations()) {
    if (!is_measured(each.operation)) continue;
    Case c = large_case(each.operation, each.algorithm.name, ranks_of("cuda"), bytes);
    c.backend = "cuda";
    if (!each.algorithm.refuses(collective_call(c), {}).empty()) continue;
    bench.add({.name = name_of("cuda", c, bytes),
               .backend = "cuda",
               .times = times_on_cuda(bench, c),
               .large_ranks = c.ranks,
               .moved_bytes = plan_bytes(each.algorithm, c)});
  }
}

/// Adds calls on a backend of processes.
void add_real(Bench& bench, const std::string& backend_name) {
  const std::int64_t bytes = bench.sizes(backend_name).bytes;
  harness::Backend& listed = bench.backend(backend_name);
  for (const harness::AlgorithmInfo& each : listed.algorithms()) {
    if (!is_measured(each.operation)) continue;
    Case c = large_case(each.operation, each.name, ranks_of(backend_name), bytes);
    c.backend = backend_name;
    if (!listed.why_refused(c).empty()) continue;
    bench.add({.name = name_of(backend_name, c, bytes),
               .backend = backend_name,
               .prepare = [&bench, c] { return stamped_run(bench, c); },
               .prepare_floor = copies(bench, c.ranks, bytes),
               .large_ranks = c.ranks});
  }
}

}  // namespace

void add_large_collectives(Bench& bench, const std::string& backend) {
  if (backend == "sim") {
    add_simulated(bench);
  } else if (backend == "cuda") {
    add_on_cuda(bench);
  } else {
    add_real(bench, backend);
  }
}

}  // namespace rankcheck::cases::bench
