#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/exchange/tiles.hpp"
#include "gpu/ptycho/kernels/arrays.hpp"
#include "gpu/ptycho/registry.hpp"
#include "gpu/ptycho/solvers/solver.hpp"
#include "gpu/ptycho/solvers/state.hpp"

namespace rankcheck::gpu {

namespace {

using spec::Array;
using spec::Box;

/// A local rank's inputs, and copies of its state in its outputs, which the step changes.
template <class T>
SolverShare<T> share_of(const OperatorRun& run, StepKind kind, int rank) {
  SolverShare<T> share{.positions = run.in<T>(rank, Array::positions),
                       .frames = run.in<T>(rank, Array::frames),
                       .mask = run.in<T>(rank, Array::mask),
                       .count = run.positions(rank)};
  for (const StateArray<T>& state : state_of<T>(kind)) {
    share.*state.part = run.out<Complex<T>>(rank, state.array);
    copy(run.cluster(),
         rank,
         run.size(rank, state.array),
         run.in<Complex<T>>(rank, state.array),
         share.*state.part);
  }
  return share;
}

template <class T>
std::vector<SolverShare<T>> shares_of(const OperatorRun& run, StepKind kind) {
  std::vector<SolverShare<T>> shares;
  for (const int rank : run.local()) shares.push_back(share_of<T>(run, kind, rank));
  return shares;
}

template <class T>
void take_step(const OperatorRun& run,
               StepKind kind,
               std::vector<Box> held,
               const std::vector<SolverShare<T>>& shares,
               Directions directions = Directions::by_every_rank) {
  Solver<T> solver(run.cluster(), run.scene(), std::move(held));
  const StepReport report = solver.take(kind, shares, directions);
  const T cost = static_cast<T>(report.cost);
  const std::array lengths{static_cast<T>(report.object_length),
                           static_cast<T>(report.probe_length)};
  for (const int rank : run.local()) {
    run.cluster().write(rank, &cost, run.out<T>(rank, Array::cost), sizeof(cost));
    if (!is_conjugate_gradient(kind) && kind != StepKind::lsqml) continue;
    run.cluster().write(
        rank, lengths.data(), run.out<T>(rank, Array::step_lengths), sizeof(lengths));
  }
}

/// The smallest box that contains two boxes.
Box around(const Box& a, const Box& b) {
  if (a.pixels() == 0) return b;
  if (b.pixels() == 0) return a;
  const std::int64_t row = std::min(a.row, b.row);
  const std::int64_t col = std::min(a.col, b.col);
  return {.row = row,
          .col = col,
          .rows = std::max(a.row + a.rows, b.row + b.rows) - row,
          .cols = std::max(a.col + a.cols, b.col + b.cols) - col};
}

/// The part of the object that each rank holds: the pixels that its windows touch. Steps with
/// directions have a state at every pixel, so every pixel needs a holder. For them, each rank's box
/// is enlarged by a share of the object's rows.
template <class T>
std::vector<Box> tiles_of(const OperatorRun& run, StepKind kind) {
  std::vector<Box> local;
  for (const int rank : run.local()) {
    const T* const positions = run.in<T>(rank, Array::positions);
    local.push_back(box_of_windows<T>(
        run.scene(), run.cluster().read_array(rank, positions, 2 * run.positions(rank))));
    if (!has_directions(kind)) continue;
    const std::int64_t ranks = run.cluster().ranks();
    const std::int64_t begin = std::int64_t{rank} * run.scene().rows / ranks;
    const std::int64_t end = std::int64_t{rank + 1} * run.scene().rows / ranks;
    local.back() =
        around(local.back(), {.row = begin, .rows = end - begin, .cols = run.scene().cols});
  }
  return gather_boxes(run.cluster(), local);
}

template <class T>
void run_tiled(const OperatorRun& run, StepKind kind) {
  Cluster& cluster = run.cluster();
  const std::vector<Box> held = tiles_of<T>(run, kind);
  const Box whole{.rows = run.scene().rows, .cols = run.scene().cols};
  const std::vector<SolverShare<T>> shares = shares_of<T>(run, kind);
  std::vector<SolverShare<T>> tiled = shares;
  for (std::size_t place = 0; place < tiled.size(); ++place) {
    const int rank = run.local()[place];
    const Box& box = held[spec::to_size(rank)];
    const std::int64_t count = run.positions(rank);
    auto* const moved = cluster.allocate_array<T>(rank, 2 * count);
    move_positions(cluster, rank, count, box, shares[place].positions, moved);
    tiled[place].positions = moved;
    for (const StateArray<T>& state : state_of<T>(kind)) {
      if (state.lies != Lies::like_object) continue;
      auto* const tile = cluster.allocate_array<Complex<T>>(rank, box.pixels());
      launch(cluster,
             rank,
             box.pixels(),
             TakePart<Complex<T>>{shares[place].*state.part, tile, {.part = box, .tile = whole}});
      tiled[place].*state.part = tile;
    }
  }
  take_step(run, kind, held, tiled);
  for (const StateArray<T>& state : state_of<T>(kind)) {
    if (state.lies != Lies::like_object) continue;
    std::vector<Complex<T>*> from;
    std::vector<Complex<T>*> to;
    for (std::size_t place = 0; place < tiled.size(); ++place) {
      from.push_back(tiled[place].*state.part);
      to.push_back(shares[place].*state.part);
    }
    assemble(cluster, run.scene(), held, from, to);
  }
}

/// Runs the operation <kind>_step with the whole object on every rank.
void run_replicated_step(const OperatorRun& run,
                         StepKind kind,
                         Directions directions = Directions::by_every_rank) {
  with_precision(run.call().type, [&]<class T>() {
    take_step(run,
              kind,
              whole_objects(run.scene(), run.cluster().ranks()),
              shares_of<T>(run, kind),
              directions);
  });
}

/// Runs the operation <kind>_step with the part of the object under its windows on every rank.
void run_tiled_step(const OperatorRun& run, StepKind kind) {
  with_precision(run.call().type, [&]<class T>() { run_tiled<T>(run, kind); });
}

/// Adds the algorithms of a step.
template <StepKind kind>
void add_step(std::string_view operation, std::vector<OperatorImplementation>& all) {
  all.push_back(
      {operation,
       {.name = "replicated",
        .summary = "Every rank has the whole object. The ranks' contributions are summed over all "
                   "ranks.",
        .run = [](const OperatorRun& run) { run_replicated_step(run, kind); },
        .in_batches = true}});
  all.push_back({operation,
                 {.name = "tiled",
                  .summary = "Every rank has the part of the object under its windows. Ranks whose "
                             "tiles overlap exchange their contributions.",
                  .run = [](const OperatorRun& run) { run_tiled_step(run, kind); },
                  .in_batches = true}});
  if constexpr (is_conjugate_gradient(kind)) {
    all.push_back(
        {operation,
         {.name = "gathered",
          .summary = "Every rank has the whole object. Rank 0 gathers and sums the "
                     "gradients, computes the directions, and sends both to all ranks.",
          .run =
              [](const OperatorRun& run) { run_replicated_step(run, kind, Directions::by_rank_0); },
          .in_batches = true}});
  }
}

}  // namespace

std::vector<OperatorImplementation> algorithms_of_steps() {
  std::vector<OperatorImplementation> all;
  add_step<StepKind::alternating_projections>("alternating_projections_step", all);
  add_step<StepKind::conjugate_gradient>("conjugate_gradient_step", all);
  add_step<StepKind::difference_map>("difference_map_step", all);
  add_step<StepKind::epie>("epie_step", all);
  add_step<StepKind::lsqml>("lsqml_step", all);
  add_step<StepKind::momentum>("momentum_step", all);
  add_step<StepKind::poisson_conjugate_gradient>("poisson_conjugate_gradient_step", all);
  add_step<StepKind::rpie>("rpie_step", all);
  return all;
}

}  // namespace rankcheck::gpu
