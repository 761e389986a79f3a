#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/exchange/tiles.hpp"
#include "gpu/ptycho/solvers/state.hpp"

#include "harness/case/case.hpp"

#include "cases/reconstruct/solvers.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

using spec::Array;
using spec::Box;
using Value = gpu::Complex<float>;
using Share = gpu::SolverShare<float>;
using Kept = gpu::StateArray<float>;
using gpu::Lies;

/// Returns the components of one array of a state.
float* components(State& state, Array array) {
  if (array == Array::object) return reinterpret_cast<float*>(state.object.data());
  if (array == Array::probe) return reinterpret_cast<float*>(state.probe.data());
  return state.memory.at(std::string(spec::name(array))).data();
}

spec::Scene scene_of(const Dataset& data, const State& state) {
  spec::Scene scene = data.scene();
  scene.modes = state.modes(data.window);
  return scene;
}

/// Returns the part of the object that each rank holds: all of it, or the box that its windows
/// touch.
std::vector<Box> held_by_ranks(const Problem& problem,
                               const Shards& shards,
                               const spec::Scene& scene) {
  if (problem.layout == Layout::replicated) {
    return gpu::whole_objects(scene, problem.cluster.ranks());
  }
  std::vector<Box> held;
  for (const std::vector<std::int64_t>& positions : shards.positions()) {
    std::vector<float> corners;
    for (const std::int64_t n : positions) {
      const auto first = problem.data.positions.begin() + 2 * n;
      corners.insert(corners.end(), first, first + 2);
    }
    held.push_back(gpu::box_of_windows<float>(scene, corners));
  }
  return held;
}

/// Returns the lowest rank that holds each pixel of the object; -1 if no rank holds it.
std::vector<int> lowest_holders(const spec::Scene& scene, const std::vector<Box>& held) {
  std::vector<int> holders(spec::to_size(spec::values(scene, spec::Array::object)), -1);
  for (std::size_t rank = held.size(); rank-- > 0;) {
    const Box& box = held[rank];
    for (std::int64_t row = box.row; row < box.row + box.rows; ++row) {
      std::fill_n(holders.begin() + row * scene.cols + box.col, box.cols, static_cast<int>(rank));
    }
  }
  return holders;
}

/// A local rank with its memory and the borders of its batches.
struct Part {
  int rank = 0;
  Box held;
  /// Indices into the rank's positions at which its batches begin. There is one more entry than
  /// batches.
  std::vector<std::int64_t> batch_begins;
  /// The arrays of all positions of the rank.
  Share share;
  /// The copy of the state that keep() makes.
  Share kept;
  /// Memory for sums over all ranks; see room().
  Value* room = nullptr;
};

/// Consecutive values of a whole array.
struct Stretch {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

class OnDevices final : public Reconstruction {
 public:
  OnDevices(gpu::StepKind kind, const Problem& problem, const State& from)
      : kind_(kind),
        problem_(problem),
        cluster_(problem.cluster),
        scene_(scene_of(problem.data, from)),
        own_shards_(problem.shards == nullptr
                        ? std::make_unique<Shards>(
                              problem.data, problem.cluster, problem.partition, problem.batches)
                        : nullptr),
        shards_(problem.shards == nullptr ? *own_shards_ : *problem.shards),
        held_(held_by_ranks(problem, shards_, scene_)),
        holders_(lowest_holders(scene_, held_)),
        start_(from),
        solver_(problem.cluster, scene_, held_) {
    complete(start_);
    for (const int rank : cluster_.local()) {
      Part& part = parts_.emplace_back();
      part.rank = rank;
      part.held = held_[spec::to_size(rank)];
      load_positions(part, shards_.frames(parts_.size() - 1));
      allocate_state(part, part.share);
    }
    load_state();
  }

  void restart(const State& from) override {
    start_ = from;
    complete(start_);
    load_state();
  }

  double step(int batch) override {
    return solver_.take(kind_, shares(batch, batch + 1)).cost / shards_.total();
  }

  double cost() override {
    return solver_.cost(kind_, shares(0, problem_.batches)) / shards_.total();
  }

  [[nodiscard]] State state() override { return read(&Part::share); }

  void keep() override {
    std::vector<Share> to;
    for (Part& part : parts_) {
      if (part.kept.object == nullptr) allocate_state(part, part.kept);
      to.push_back(part.kept);
    }
    solver_.copy_state(kind_, shares(0, problem_.batches), to);
  }

  [[nodiscard]] State kept() override { return read(&Part::kept); }

  [[nodiscard]] std::string unequal_copy() override {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      // Arrays that lie like the frames have only one copy.
      if (kept.lies == Lies::like_frames) continue;
      const int rank = unequal_rank(kept);
      if (rank >= 0) return fmt::format("rank {}: {}", rank, spec::name(kept.array));
    }
    return {};
  }

 private:
  [[nodiscard]] static std::int64_t bytes(std::int64_t values) {
    return values * static_cast<std::int64_t>(sizeof(Value));
  }

  /// Returns the number of values of a whole array, for all positions.
  [[nodiscard]] std::int64_t whole(const Kept& kept) const {
    const std::int64_t copies = kept.lies == Lies::like_frames ? problem_.data.count : 1;
    return copies * spec::values(scene_, kept.array);
  }

  /// Gives a state all arrays that the solver keeps, filled with zeros if they are missing. Missing
  /// arrays that lie like the frames stay empty; load_state() makes them. Throws BadInput if an
  /// array has the wrong size.
  void complete(State& state) const {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      if (kept.array == Array::object || kept.array == Array::probe) continue;
      const std::string name(spec::name(kept.array));
      const auto size = spec::to_size(2 * whole(kept));
      std::vector<float>& values = state.memory[name];
      if (values.empty() && kept.lies == Lies::like_frames) continue;
      if (values.empty()) values.assign(size, 0);
      if (values.size() == size) continue;
      throw harness::BadInput(
          fmt::format("checkpoint: {}: found {} numbers, expected {}", name, values.size(), size));
    }
  }

  /// Returns the local ranks' shares of the batches from `first` to `last` - 1.
  [[nodiscard]] std::vector<Share> shares(int first, int last) const {
    std::vector<Share> all;
    for (const Part& part : parts_) {
      const std::int64_t begin = part.batch_begins[spec::to_size(first)];
      Share share = part.share;
      share.positions += 2 * begin;
      share.frames += begin * spec::values(scene_, Array::frames);
      if (share.exit_waves != nullptr) {
        share.exit_waves += begin * spec::values(scene_, Array::exit_waves);
      }
      share.count = part.batch_begins[spec::to_size(last)] - begin;
      all.push_back(share);
    }
    return all;
  }

  template <class Element>
  Element* copy(int rank, const Element* from, std::int64_t count) {
    auto* const to = cluster_.allocate_array<Element>(rank, count);
    cluster_.write(rank, from, to, count * static_cast<std::int64_t>(sizeof(Element)));
    return to;
  }

  void load_positions(Part& part, const float* frames) {
    const Dataset& data = problem_.data;
    const auto& positions = shards_.positions()[spec::to_size(part.rank)];
    const auto count = static_cast<std::int64_t>(positions.size());
    std::vector<float> corners;
    part.batch_begins.assign(spec::to_size(problem_.batches) + 1, 0);
    for (const std::int64_t n : positions) {
      // The difference is exact, because no window begins before the box.
      const float* const corner = data.positions.data() + 2 * n;
      corners.push_back(corner[0] - static_cast<float>(part.held.row));
      corners.push_back(corner[1] - static_cast<float>(part.held.col));
      ++part.batch_begins[spec::to_size(n % problem_.batches) + 1];
    }
    std::partial_sum(part.batch_begins.begin(), part.batch_begins.end(), part.batch_begins.begin());
    part.share.frames = frames;
    part.share.positions = copy(part.rank, corners.data(), 2 * count);
    const bool is_masked = std::count(data.mask.begin(), data.mask.end(), 0.0F) > 0;
    if (is_masked)
      part.share.mask =
          copy(part.rank, data.mask.data(), static_cast<std::int64_t>(data.mask.size()));
    part.share.count = count;
  }

  void allocate_state(const Part& part, Share& share) {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      std::int64_t values = 0;
      for (const Stretch& held : held_parts(part, kept)) values += held.count;
      share.*kept.part = cluster_.allocate_array<Value>(part.rank, values);
    }
  }

  /// Writes the start to the devices. If the start has no exit waves, they are computed from object
  /// and probe.
  void load_state() {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      const auto* const from = reinterpret_cast<const Value*>(components(start_, kept.array));
      if (from == nullptr) continue;
      for (const Part& part : parts_) load_array(part, kept, from);
    }
    if (kind_ != gpu::StepKind::difference_map) return;
    std::vector<float>& waves = start_.memory[std::string(spec::name(Array::exit_waves))];
    if (waves.empty()) solver_.illuminate(shares(0, problem_.batches));
    // The exit waves are as large as the frames, and read() does not need their start values.
    waves = {};
  }

  void load_array(const Part& part, const Kept& kept, const Value* from) {
    const Stretch all{.count = whole(kept)};
    for_each_run(part, kept, all, [&](std::int64_t first, std::int64_t own, std::int64_t count) {
      cluster_.write(part.rank, from + first, part.share.*kept.part + own, bytes(count));
    });
  }

  /// Returns the parts of a whole array that a rank holds: rows of its box, the whole probe, or the
  /// values of its positions. They lie one after another in the rank's own array.
  [[nodiscard]] std::vector<Stretch> held_parts(const Part& part, const Kept& kept) const {
    std::vector<Stretch> all;
    const std::int64_t size = spec::values(scene_, kept.array);
    if (kept.lies == Lies::like_probe) all.push_back({.count = size});
    if (kept.lies == Lies::like_object) {
      for (std::int64_t row = part.held.row; row < part.held.row + part.held.rows; ++row) {
        all.push_back({row * scene_.cols + part.held.col, part.held.cols});
      }
    }
    if (kept.lies == Lies::like_frames) {
      for (const std::int64_t n : shards_.positions()[spec::to_size(part.rank)]) {
        all.push_back({n * size, size});
      }
    }
    return all;
  }

  /// Calls body(index in the whole array, index in the rank's array, count) for the values of a
  /// stretch that a rank holds.
  template <class Body>
  void for_each_run(const Part& part, const Kept& kept, Stretch of, const Body& body) const {
    std::int64_t own = 0;
    for (const Stretch& held : held_parts(part, kept)) {
      const std::int64_t begin = std::max(held.first, of.first);
      const std::int64_t stop = std::min(held.first + held.count, of.first + of.count);
      if (begin < stop) body(begin, own + begin - held.first, stop - begin);
      own += held.count;
    }
  }

  /// Calls body(stretch) for consecutive parts of a whole array, each of at most stretch_max
  /// values.
  template <class Body>
  void for_each_stretch(const Kept& kept, const Body& body) const {
    const std::int64_t all = whole(kept);
    for (std::int64_t first = 0; first < all; first += stretch_max) {
      body(Stretch{.first = first, .count = std::min(stretch_max, all - first)});
    }
  }

  /// Returns the state, collected from all ranks. `place` selects the present or the kept state.
  [[nodiscard]] State read(Share Part::*place) {
    State state = start_;
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      if (kept.lies == Lies::like_frames) {
        state.memory[std::string(spec::name(kept.array))].resize(spec::to_size(2 * whole(kept)));
      }
      float* const to = components(state, kept.array);
      const bool is_in_parts = kept.lies == Lies::like_frames ||
                               (kept.lies == Lies::like_object && problem_.layout == Layout::tiles);
      if (is_in_parts) {
        assemble(kept, place, to);
      } else {
        const Part& part = parts_.front();
        cluster_.read(part.rank, part.*place.*kept.part, to, bytes(whole(kept)));
      }
    }
    return state;
  }

  /// Returns a rank's copy of a stretch of an array. Values that the rank does not hold are 0.
  std::vector<Value> copy_of(const Part& part,
                             const Kept& kept,
                             Share Part::*place,
                             Stretch stretch) {
    std::vector<Value> copy(spec::to_size(stretch.count));
    const Value* const from = part.*place.*kept.part;
    for_each_run(
        part, kept, stretch, [&](std::int64_t whole, std::int64_t own, std::int64_t count) {
          cluster_.read(part.rank, from + own, copy.data() + whole - stretch.first, bytes(count));
        });
    return copy;
  }

  /// Returns memory on the rank's device for the longest stretch, and for one number of each rank.
  /// Allocates it once.
  Value* room(Part& part) {
    if (part.room == nullptr) {
      std::int64_t longest = 0;
      for (const Kept& kept : gpu::state_of<float>(kind_)) {
        longest = std::max(longest, whole(kept));
      }
      part.room = cluster_.allocate_array<Value>(
          part.rank, std::max(std::min(stretch_max, longest), std::int64_t{cluster_.ranks()}));
    }
    return part.room;
  }

  /// Sums make(part) over all ranks as integers. So if only one rank has something else than zeros,
  /// the sum has exactly its bits.
  template <class Make>
  std::vector<std::int32_t> sum_bits(std::int64_t count, const Make& make) {
    const auto size = count * static_cast<std::int64_t>(sizeof(std::int32_t));
    std::vector<std::byte*> sums;
    for (Part& part : parts_) {
      const auto values = make(part);
      cluster_.write(part.rank, values.data(), room(part), size);
      sums.push_back(reinterpret_cast<std::byte*>(room(part)));
    }
    gpu::sum_over_ranks(cluster_, spec::Type::int32, count, sums);
    std::vector<std::int32_t> sum(spec::to_size(count));
    cluster_.read(parts_.front().rank, room(parts_.front()), sum.data(), size);
    return sum;
  }

  /// Whether no lower rank holds the value.
  [[nodiscard]] bool is_lowest(const Part& part, const Kept& kept, std::int64_t value) const {
    if (kept.lies == Lies::like_object) return holders_[spec::to_size(value)] == part.rank;
    // All ranks hold the probe, and one rank holds the values of a position.
    return kept.lies == Lies::like_frames || part.rank == 0;
  }

  /// Returns the bits of a stretch. Each value comes from the lowest rank that holds it.
  std::vector<std::int32_t> lowest_copy(const Kept& kept, Share Part::*place, Stretch stretch) {
    return sum_bits(2 * stretch.count, [&](const Part& part) {
      std::vector<Value> copy = copy_of(part, kept, place, stretch);
      for (std::int64_t i = 0; i < stretch.count; ++i) {
        if (!is_lowest(part, kept, stretch.first + i)) copy[spec::to_size(i)] = {};
      }
      return copy;
    });
  }

  /// Reads a whole array whose parts lie on several ranks. Pixels that no rank holds keep their
  /// values.
  void assemble(const Kept& kept, Share Part::*place, float* values) {
    for_each_stretch(kept, [&](Stretch stretch) {
      const std::vector<std::int32_t> bits = lowest_copy(kept, place, stretch);
      for (std::int64_t i = 0; i < 2 * stretch.count; ++i) {
        const std::int64_t value = stretch.first + i / 2;
        if (kept.lies == Lies::like_object && holders_[spec::to_size(value)] < 0) continue;
        values[2 * stretch.first + i] = std::bit_cast<float>(bits[spec::to_size(i)]);
      }
    });
  }

  /// Whether the values of a stretch that a rank holds have these bits.
  [[nodiscard]] bool is_equal(const Part& part,
                              const Kept& kept,
                              Stretch stretch,
                              const std::vector<std::int32_t>& bits) {
    const std::vector<Value> copy = copy_of(part, kept, &Part::share, stretch);
    const auto* const lowest = reinterpret_cast<const Value*>(bits.data());
    bool equal = true;
    for_each_run(part, kept, stretch, [&](std::int64_t whole, std::int64_t, std::int64_t count) {
      const std::int64_t at = whole - stretch.first;
      equal = equal &&
              std::memcmp(copy.data() + at, lowest + at, spec::to_size(count) * sizeof(Value)) == 0;
    });
    return equal;
  }

  /// Returns the lowest rank whose copy differs from the copy of the lowest holder; -1 if there is
  /// none.
  int unequal_rank(const Kept& kept) {
    std::vector<std::int32_t> is_unequal(spec::to_size(cluster_.ranks()), 0);
    for_each_stretch(kept, [&](Stretch stretch) {
      const std::vector<std::int32_t> bits = lowest_copy(kept, &Part::share, stretch);
      for (const Part& part : parts_) {
        if (!is_equal(part, kept, stretch, bits)) is_unequal[spec::to_size(part.rank)] = 1;
      }
    });
    const std::vector<std::int32_t> all = sum_bits(cluster_.ranks(), [&](const Part& part) {
      std::vector<std::int32_t> own(is_unequal.size(), 0);
      const auto rank = spec::to_size(part.rank);
      own[rank] = is_unequal[rank];
      return own;
    });
    const auto first = std::find(all.begin(), all.end(), 1);
    return first == all.end() ? -1 : static_cast<int>(first - all.begin());
  }

  gpu::StepKind kind_;
  Problem problem_;
  gpu::Cluster& cluster_;
  spec::Scene scene_;
  /// Null if the problem provides the shards.
  std::unique_ptr<const Shards> own_shards_;
  const Shards& shards_;
  std::vector<Box> held_;
  /// The lowest rank that holds each pixel of the object; -1 if no rank holds it.
  std::vector<int> holders_;
  /// The state at the start. Pixels that no rank holds keep these values.
  State start_;
  gpu::Solver<float> solver_;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<Reconstruction> start_on_devices(gpu::StepKind kind,
                                                 const Problem& problem,
                                                 const State& from) {
  return std::make_unique<OnDevices>(kind, problem, from);
}

}  // namespace rankcheck::cases::reconstruct
