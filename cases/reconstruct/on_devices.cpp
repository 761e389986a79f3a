#include "cases/reconstruct/on_devices.hpp"

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

#include "gpu/ptycho/solvers/state.hpp"

#include "harness/case/case.hpp"

#include "cases/reconstruct/holders.hpp"

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
        owners_(owners_of(shards_, problem.data.count)),
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

  /// Returns the number of values of an array that a rank holds.
  [[nodiscard]] std::int64_t values(const Part& part, const Kept& kept) const {
    switch (kept.lies) {
      case Lies::like_object:
        return part.held.pixels();
      case Lies::like_probe:
        return spec::values(scene_, kept.array);
      case Lies::like_frames:
        return part.share.count * spec::values(scene_, kept.array);
    }
    return 0;
  }

  void allocate_state(const Part& part, Share& share) {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      share.*kept.part = cluster_.allocate_array<Value>(part.rank, values(part, kept));
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

  /// Calls body(index in the whole array, index in the rank's array, count) for the values of a
  /// stretch that a rank holds. The values of one row of its box, or of one position, come in one
  /// call.
  template <class Body>
  void for_each_run(const Part& part, const Kept& kept, Stretch of, const Body& body) const {
    switch (kept.lies) {
      case Lies::like_object:
        return for_each_row(part, of, body);
      case Lies::like_probe:
        return body(of.first, of.first, of.count);
      case Lies::like_frames:
        return for_each_position(part, spec::values(scene_, kept.array), of, body);
    }
  }

  /// for_each_run() for arrays that lie like the frames, with `size` values for each position.
  template <class Body>
  void for_each_position(const Part& part, std::int64_t size, Stretch of, const Body& body) const {
    std::int64_t own = 0;
    for (const std::int64_t n : shards_.positions()[spec::to_size(part.rank)]) {
      const std::int64_t begin = std::max(n * size, of.first);
      const std::int64_t stop = std::min((n + 1) * size, of.first + of.count);
      if (begin < stop) body(begin, own + begin - n * size, stop - begin);
      own += size;
    }
  }

  /// for_each_run() for arrays that lie like the object.
  template <class Body>
  void for_each_row(const Part& part, Stretch of, const Body& body) const {
    const Box& box = part.held;
    const std::int64_t cols = scene_.cols;
    const std::int64_t end = of.first + of.count;
    const std::int64_t row_end = std::min(box.row + box.rows, (end + cols - 1) / cols);
    for (std::int64_t row = std::max(box.row, of.first / cols); row < row_end; ++row) {
      const std::int64_t box_begin = row * cols + box.col;
      const std::int64_t begin = std::max(box_begin, of.first);
      const std::int64_t stop = std::min(box_begin + box.cols, end);
      if (begin >= stop) continue;
      body(begin, (row - box.row) * box.cols + begin - box_begin, stop - begin);
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

  /// Returns the lowest rank that holds a value; -1 if no rank holds it.
  [[nodiscard]] int holder(const Kept& kept, std::int64_t value) const {
    switch (kept.lies) {
      case Lies::like_object:
        return holders_[spec::to_size(value)];
      case Lies::like_probe:
        return 0;
      case Lies::like_frames:
        return owners_[spec::to_size(value / spec::values(scene_, kept.array))];
    }
    return -1;
  }

  /// Returns the bits of a stretch. Each value comes from the lowest rank that holds it.
  std::vector<std::int32_t> lowest_copy(const Kept& kept, Share Part::*place, Stretch stretch) {
    return sum_bits(2 * stretch.count, [&](const Part& part) {
      std::vector<Value> copy = copy_of(part, kept, place, stretch);
      for (std::int64_t i = 0; i < stretch.count; ++i) {
        if (holder(kept, stretch.first + i) == part.rank) continue;
        copy[spec::to_size(i)] = {};
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
        if (holder(kept, stretch.first + i / 2) < 0) continue;
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
  std::vector<int> holders_;
  std::vector<int> owners_;
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
