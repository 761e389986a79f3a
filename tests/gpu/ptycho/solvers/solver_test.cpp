#include "gpu/ptycho/solvers/solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <set>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "reference/ptycho/conjugate_gradient_step/contract.hpp"
#include "reference/spec/operator.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/exchange/tiles.hpp"
#include "gpu/ptycho/passes/model.hpp"
#include "gpu/ptycho/solvers/state.hpp"

#include "tests/gpu/ptycho/devices.hpp"
#include "tests/print.hpp"

namespace rankcheck::gpu {
namespace {

using spec::Box;
using Waves = std::vector<Complex<double>>;

constexpr spec::Scene scene{.rows = 13, .cols = 11, .window = 4, .detector = 5, .modes = 2};
constexpr std::size_t frame = 25;
constexpr std::size_t probe_size = 32;

/// Returns pseudorandom numbers from -1 to 1.
std::vector<double> numbers(std::size_t count, std::uint64_t seed) {
  std::vector<double> values(count);
  for (double& value : values) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    value = static_cast<double>(seed >> 11) * 0x1p-52 - 1;
  }
  return values;
}

Waves waves(std::size_t count, std::uint64_t seed) {
  const std::vector<double> parts = numbers(2 * count, seed);
  Waves values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = {parts[2 * i], parts[2 * i + 1]};
  return values;
}

/// Three ranks, one of them without positions, or one rank with all positions. Tiles overlap. The
/// light is brightest where only the last tile lies, so other ranks must learn its brightness.
struct Layout {
  std::vector<std::vector<double>> positions;
  bool tiles = false;
  bool has_queues = false;
  /// Positions that a device takes at a time; 0: as many as it likes.
  int batch_max = 0;
};
const Layout three_tiles{
    .positions = {{0.5, 0, 3, 2.25, 1, 6.75}, {}, {5, 5, 8.5, 6.5, 8.5, 6.5, 8.5, 6.5}},
    .tiles = true};
const Layout three_tiles_with_queues{
    .positions = three_tiles.positions, .tiles = true, .has_queues = true};
const Layout three_replicas{.positions = three_tiles.positions};
const Layout one_rank{
    .positions = {{0.5, 0, 3, 2.25, 1, 6.75, 5, 5, 8.5, 6.5, 8.5, 6.5, 8.5, 6.5}}};

std::vector<Box> boxes_of(const Layout& layout) {
  if (!layout.tiles) return whole_objects(scene, static_cast<int>(layout.positions.size()));
  std::vector<Box> boxes;
  for (const auto& each : layout.positions) boxes.push_back(box_of_windows<double>(scene, each));
  return boxes;
}

/// A problem on simulated devices, and its solver.
class Problem {
 public:
  explicit Problem(const Layout& layout)
      : held_(boxes_of(layout)),
        devices_(static_cast<int>(held_.size()), layout.has_queues ? &held_ : nullptr),
        solver_(devices_, scene, held_) {
    devices_.batch_max = layout.batch_max;
    const Waves object = waves(143, 1);
    std::size_t first = 0;
    for (int rank = 0; rank < devices_.ranks(); ++rank) {
      const auto& positions = layout.positions[spec::to_size(rank)];
      const Box& box = held(rank);
      const std::size_t count = positions.size() / 2;
      std::vector<double> frames = numbers(7 * frame, 2);
      for (double& each : frames) each = std::abs(each);
      const auto begin = frames.begin() + static_cast<std::ptrdiff_t>(first * frame);
      const auto end = begin + static_cast<std::ptrdiff_t>(count * frame);
      double* const moved = devices_.put(rank, positions);
      move_positions<double>(devices_, rank, static_cast<std::int64_t>(count), box, moved, moved);
      Waves tile;
      for (std::int64_t i = 0; i < box.pixels(); ++i) {
        const std::int64_t row = box.row + i / box.cols;
        tile.push_back(object[spec::to_size(row * 11 + box.col + i % box.cols)]);
      }
      const auto zeros = [&](std::size_t size) { return devices_.put(rank, Waves(size)); };
      shares_.push_back({.positions = moved,
                         .frames = devices_.put(rank, std::vector<double>(begin, end)),
                         .count = static_cast<std::int64_t>(count),
                         .object = devices_.put(rank, tile),
                         .probe = devices_.put(rank, waves(probe_size, 3)),
                         .object_gradient = zeros(tile.size()),
                         .probe_gradient = zeros(probe_size),
                         .object_direction = zeros(tile.size()),
                         .probe_direction = zeros(probe_size),
                         .exit_waves = zeros(count * 2 * frame)});
      first += count;
    }
    solver_.illuminate(shares_);
  }

  StepReport take(StepKind kind, Directions directions = Directions::by_every_rank) {
    return solver_.take(kind, shares_, directions);
  }
  [[nodiscard]] double cost(StepKind kind) { return solver_.cost(kind, shares_); }
  /// Computes the exit waves again.
  void illuminate() { solver_.illuminate(shares_); }
  [[nodiscard]] int allocations() const { return devices_.allocations(); }
  [[nodiscard]] int ranks() const { return devices_.ranks(); }
  [[nodiscard]] const Box& held(int rank) const { return held_[spec::to_size(rank)]; }
  [[nodiscard]] std::vector<SolverShare<double>>& shares() { return shares_; }
  [[nodiscard]] Waves object(int rank) {
    return devices_.read_array(rank, share(rank).object, held(rank).pixels());
  }
  [[nodiscard]] Waves probe(int rank) {
    return devices_.read_array(rank, share(rank).probe, static_cast<std::int64_t>(probe_size));
  }
  [[nodiscard]] Waves exit_waves(int rank) {
    return devices_.read_array(
        rank, share(rank).exit_waves, share(rank).count * static_cast<std::int64_t>(2 * frame));
  }
  /// A copy of the state on the devices, as far as it is exit waves.
  [[nodiscard]] Waves copied_exit_waves(int rank) {
    std::vector<SolverShare<double>> copies = shares_;
    for (int each = 0; each < ranks(); ++each) {
      SolverShare<double>& copy = copies[spec::to_size(each)];
      copy.object = devices_.put(each, Waves(object(each).size()));
      copy.probe = devices_.put(each, Waves(probe_size));
      copy.exit_waves = devices_.put(each, Waves(exit_waves(each).size()));
    }
    solver_.copy_state(StepKind::difference_map, shares_, copies);
    const SolverShare<double>& copy = copies[spec::to_size(rank)];
    return devices_.read_array(rank, copy.exit_waves, std::ssize(exit_waves(rank)));
  }
  void brighten_probe(double factor) {
    for (int rank = 0; rank < ranks(); ++rank) {
      Waves values = probe(rank);
      for (auto& value : values) value = factor * value;
      share(rank).probe = devices_.put(rank, values);
    }
  }
  void darken_probe() {
    for (int rank = 0; rank < ranks(); ++rank) share(rank).probe = devices_.put(rank, Waves(32));
  }

 private:
  SolverShare<double>& share(int rank) { return shares_[spec::to_size(rank)]; }

  std::vector<Box> held_;
  Devices devices_;
  Solver<double> solver_;
  std::vector<SolverShare<double>> shares_;
};

bool same(const Waves& a, const Waves& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](auto x, auto y) {
    return x.re == y.re && x.im == y.im;
  });
}

/// Returns the largest difference between a and b in the pixels that both boxes hold.
double largest_difference(const Box& a_box, const Waves& a, const Box& b_box, const Waves& b) {
  const Box both = overlap(a_box, b_box);
  const auto at = [](const Box& box, const Waves& values, std::int64_t row, std::int64_t col) {
    return values[spec::to_size((row - box.row) * box.cols + col - box.col)];
  };
  double largest = 0;
  for (std::int64_t i = 0; i < both.pixels(); ++i) {
    const std::int64_t row = both.row + i / both.cols;
    const std::int64_t col = both.col + i % both.cols;
    largest = std::max(largest, norm(at(a_box, a, row, col) - at(b_box, b, row, col)));
  }
  return std::sqrt(largest);
}

/// Returns the largest difference between the objects of two ranks of two problems.
double largest_difference(Problem& a, int a_rank, Problem& b, int b_rank) {
  return largest_difference(a.held(a_rank), a.object(a_rank), b.held(b_rank), b.object(b_rank));
}

/// A step and the operation that it is.
struct SolverStep {
  StepKind kind;
  std::string_view operation;

  friend void PrintTo(const SolverStep& step, std::ostream* out) { *out << step.operation; }
};

class SolverTest : public testing::TestWithParam<SolverStep> {
 protected:
  const StepKind kind_ = GetParam().kind;
};

INSTANTIATE_TEST_SUITE_P(
    Steps,
    SolverTest,
    testing::Values(SolverStep{StepKind::rpie, "rpie_step"},
                    SolverStep{StepKind::epie, "epie_step"},
                    SolverStep{StepKind::conjugate_gradient, "conjugate_gradient_step"},
                    SolverStep{StepKind::lsqml, "lsqml_step"},
                    SolverStep{StepKind::alternating_projections, "alternating_projections_step"},
                    SolverStep{StepKind::poisson_conjugate_gradient,
                               "poisson_conjugate_gradient_step"},
                    SolverStep{StepKind::difference_map, "difference_map_step"},
                    SolverStep{StepKind::momentum, "momentum_step"}),
    tests::printed_name);

/// A step continues from the arrays that are both its input and its output.
TEST_P(SolverTest, StateHasTheArraysThatTheContractKeeps) {
  const auto& traits = ptycho(reference::contract_named(GetParam().operation));
  std::set<spec::Array> kept;
  for (const spec::Array array : traits.outputs) {
    const auto& in = traits.inputs;
    if (std::find(in.begin(), in.end(), array) != in.end()) kept.insert(array);
  }
  std::set<spec::Array> state;
  for (const auto& each : state_of<float>(kind_)) state.insert(each.array);
  EXPECT_EQ(state, kept);
}

/// GPUs process the frames in their own passes.
TEST_P(SolverTest, DevicesWithQueuesChangeLikeOneWithout) {
  Problem gpus(three_tiles_with_queues);
  Problem whole(one_rank);
  for (int step = 0; step < 2; ++step) {
    const double cost = whole.take(kind_).cost;
    EXPECT_NEAR(gpus.take(kind_).cost, cost, 1e-9 * cost);
  }
  EXPECT_LT(largest_difference(gpus, 2, whole, 0), 1e-9);
  const Box all{.rows = 1, .cols = probe_size};
  EXPECT_LT(largest_difference(all, gpus.probe(1), all, whole.probe(0)), 1e-9);
}

TEST(PassesTest, SuitTheDevices) {
  Devices processors(1);
  int queue = 0;
  Devices gpus(1, &queue);
  EXPECT_EQ(passes_for(processors, scene), Passes::batched);
  EXPECT_EQ(passes_for(gpus, scene), Passes::fused);
  spec::Scene thick = scene;
  thick.slices = 2;
  EXPECT_EQ(passes_for(gpus, thick), Passes::batched) << "fused passes know one slice";
}

TEST_P(SolverTest, ReportsTheCostBeforeTheStep) {
  Problem problem(three_tiles);
  problem.take(kind_);
  const double before = problem.cost(kind_);
  EXPECT_EQ(problem.take(kind_).cost, before);
}

/// Expects that a step allocates nothing that the step before it has allocated.
void expect_memory_is_kept(Problem& problem, StepKind kind, Directions directions) {
  problem.take(kind, directions);
  const int allocations = problem.allocations();
  problem.shares()[0].count = 1;
  for (int step = 0; step < 3; ++step) problem.take(kind, directions);
  EXPECT_EQ(problem.allocations(), allocations);
}

TEST_P(SolverTest, KeepsItsMemory) {
  for (const Layout& layout : {three_tiles, three_tiles_with_queues}) {
    SCOPED_TRACE(layout.has_queues ? "with queues" : "without queues");
    Problem problem(layout);
    expect_memory_is_kept(problem, kind_, Directions::by_every_rank);
  }
}

TEST_P(SolverTest, LeavesEverythingAloneWithoutFrames) {
  Problem problem(three_tiles);
  for (SolverShare<double>& share : problem.shares()) share.count = 0;
  const Waves object = problem.object(2);
  const Waves probe = problem.probe(2);
  problem.take(kind_);
  EXPECT_TRUE(same(problem.object(2), object) && same(problem.probe(2), probe));
}

TEST_P(SolverTest, LeavesTheObjectAloneInTheDark) {
  Problem problem(three_tiles);
  problem.darken_probe();
  const Waves object = problem.object(2);
  problem.take(kind_);
  EXPECT_TRUE(same(problem.object(2), object));
}

TEST(ConjugateGradientTest, GatheringKeepsItsMemory) {
  Problem problem(three_replicas);
  expect_memory_is_kept(problem, StepKind::conjugate_gradient, Directions::by_rank_0);
}

/// Twice the light takes half the step.
TEST(ConjugateGradientTest, HalvesItsStepAsOftenAsItMay) {
  double shortest = 1;
  for (int doubled = 0; doubled < 2 * reference::line_search_halvings; ++doubled) {
    Problem problem(one_rank);
    problem.brighten_probe(std::exp2(doubled / 2.0));
    const double length = problem.take(StepKind::conjugate_gradient).object_length;
    if (length > 0) shortest = std::min(shortest, length);
  }
  EXPECT_EQ(shortest, std::exp2(-reference::line_search_halvings));
}

TEST(ConjugateGradientTest, MovesTheProbeWhereTheObjectHasToStay) {
  Problem problem(one_rank);
  problem.brighten_probe(std::exp2(reference::line_search_halvings));
  const StepReport report = problem.take(StepKind::conjugate_gradient);
  EXPECT_EQ(report.object_length, 0);
  EXPECT_GT(report.probe_length, 0);
}

TEST(DifferenceMapTest, StartsWithTheWavesOfEveryBatch) {
  Layout batches = one_rank;
  batches.batch_max = 2;
  for (const bool has_queues : {false, true}) {
    batches.has_queues = has_queues;
    Layout whole = batches;
    whole.batch_max = 0;
    EXPECT_TRUE(same(Problem(batches).exit_waves(0), Problem(whole).exit_waves(0)));
  }
}

TEST(DifferenceMapTest, CopiesAllExitWaves) {
  Problem problem(three_tiles);
  for (const int rank : {0, 2}) {
    EXPECT_TRUE(same(problem.copied_exit_waves(rank), problem.exit_waves(rank)));
  }
}

TEST(DifferenceMapTest, MovesTheExitWavesOfEveryRankAlike) {
  for (const Layout& layout : {three_tiles, three_replicas, three_tiles_with_queues}) {
    Problem apart(layout);
    Problem whole(one_rank);
    for (int step = 0; step < 2; ++step) {
      apart.take(StepKind::difference_map);
      whole.take(StepKind::difference_map);
    }
    Waves waves = apart.exit_waves(0);
    const Waves others = apart.exit_waves(2);
    waves.insert(waves.end(), others.begin(), others.end());
    const Waves wanted = whole.exit_waves(0);
    ASSERT_EQ(waves.size(), wanted.size());
    for (std::size_t i = 0; i < waves.size(); ++i) {
      ASSERT_LT(norm(waves[i] - wanted[i]), 1e-18) << i;
    }
  }
}

}  // namespace
}  // namespace rankcheck::gpu
