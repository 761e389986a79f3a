#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <gtest/gtest.h>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

#include "cases/reconstruct/reconstruction.hpp"
#include "cases/reconstruct/simulate.hpp"

/// A small scan, and simulated devices that reconstruct it.
namespace rankcheck::cases::reconstruct {

/// Returns a small scan with two modes, a probe smaller than the frames and a dead detector row.
inline Dataset small_data() {
  Dataset data = simulate({.positions = 13, .detector = 9, .probe = 7, .modes = 2, .step = 2});
  for (std::size_t i = 0; i < data.frames.size(); ++i) {
    if (i % 81 / 9 == 4) data.frames[i] = 0;
  }
  std::fill_n(data.mask.begin() + std::ptrdiff_t{4} * 9, 9, 0.0F);
  return data;
}

/// Simulated devices that count the bytes that they were asked for.
class Devices final : public gpu::sim::SimCluster {
 public:
  explicit Devices(int ranks = 1) : SimCluster(reference::contract_named, gpu::algorithm_for) {
    begin(ranks, {}, {});
  }

  [[nodiscard]] Problem problem(const Dataset& data,
                                int batches = 1,
                                Layout layout = Layout::replicated) {
    return {.data = data, .cluster = *this, .layout = layout, .batches = batches};
  }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  std::byte* allocate(int rank, std::int64_t bytes) override {
    bytes_ += bytes;
    return SimCluster::allocate(rank, bytes);
  }

 private:
  std::int64_t bytes_ = 0;
};

/// Returns a result without iterations that starts from a flat object.
inline Result flat_start(const Dataset& data, int modes) {
  return {.state = starting_state(data, modes, true)};
}

/// Reconstructs from a start.
inline Result reconstruct(const Solver& solver,
                          const Problem& problem,
                          Result from,
                          const StepBudget& budget,
                          const Observer& observer = {}) {
  const auto running = solver.start(problem, from.state);
  return reconstruct(solver, problem, *running, std::move(from), budget, observer);
}

/// A step and the states before and after it.
struct Step {
  State before;
  State after;
  int batch = 0;
  double cost = 0;

  [[nodiscard]] StepCheck check(const Solver& solver, const Problem& problem) const {
    return solver.check(problem, {.before = before, .after = after, .batch = batch, .cost = cost});
  }
};

/// Takes the first step from a state.
inline Step first_step(const Solver& solver,
                       const Problem& problem,
                       const State& before,
                       int batch = 0) {
  const auto running = solver.start(problem, before);
  const double cost = running->step(batch);
  return {.before = before, .after = running->state(), .batch = batch, .cost = cost};
}

inline void expect_same(const State& got, const State& expected) {
  EXPECT_EQ(got.object, expected.object);
  EXPECT_EQ(got.probe, expected.probe);
  EXPECT_EQ(got.memory, expected.memory);
}

inline void expect_same(const Result& got, const Result& expected) {
  EXPECT_EQ(got.costs, expected.costs);
  expect_same(got.state, expected.state);
}

}  // namespace rankcheck::cases::reconstruct
