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

#include "gpu/ptycho/state.hpp"
#include "gpu/ptycho/tiles.hpp"

#include "harness/case.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

using spec::Array;
using spec::Box;
using Value = gpu::Complex<float>;
using Share = gpu::SolverShare<float>;
using Kept = gpu::StateArray<float>;

/// The components of one of a state's arrays.
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

/// What every rank holds of the object: all of it, or what its windows touch.
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

/// The lowest rank that holds each pixel of the object; -1 where none does.
std::vector<int> lowest_holders(const spec::Scene& scene, const std::vector<Box>& held) {
  std::vector<int> holders(static_cast<std::size_t>(spec::values(scene, Array::object)), -1);
  for (std::size_t rank = held.size(); rank-- > 0;) {
    const Box& box = held[rank];
    for (std::int64_t row = box.row; row < box.row + box.rows; ++row) {
      std::fill_n(holders.begin() + row * scene.cols + box.col, box.cols, static_cast<int>(rank));
    }
  }
  return holders;
}

/// The cluster's part of one rank: where its batches begin, and its memory.
struct Part {
  int rank = 0;
  Box held;
  /// Of its positions; one more than there are batches.
  std::vector<std::int64_t> batch_begins;
  /// Of all its positions.
  Share share;
  /// Room for a whole array of the state.
  Value* whole = nullptr;
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
        state_(from),
        solver_(problem.cluster, scene_, held_) {
    make_room();
    for (const int rank : cluster_.local()) {
      Part& part = parts_.emplace_back();
      part.rank = rank;
      part.held = held_[static_cast<std::size_t>(rank)];
      load_positions(part, shards_.frames(parts_.size() - 1));
      load_state(part);
    }
  }

  double step(int batch) override {
    return solver_.take(kind_, shares(batch, batch + 1)).cost / shards_.total();
  }

  double cost() override { return solver_.cost(shares(0, problem_.batches)) / shards_.total(); }

  [[nodiscard]] State state() override {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      float* const values = components(state_, kept.array);
      if (kept.is_object && problem_.layout == Layout::tiles) {
        assemble(kept, values);
      } else {
        const Part& part = parts_.front();
        cluster_.read(part.rank, part.share.*kept.part, values, bytes(kept.array));
      }
    }
    return state_;
  }

  [[nodiscard]] std::string unequal_copy() override {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      const int rank = unequal_rank(kept);
      if (rank >= 0) return fmt::format("rank {}: {}", rank, spec::name(kept.array));
    }
    return {};
  }

 private:
  [[nodiscard]] std::int64_t bytes(Array array) const {
    return spec::components(scene_, array) * static_cast<std::int64_t>(sizeof(float));
  }

  /// Gives the state all arrays that the solver keeps, with zeros where it has none yet.
  void make_room() {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      if (kept.array == Array::object || kept.array == Array::probe) continue;
      const std::string name(spec::name(kept.array));
      const auto size = static_cast<std::size_t>(spec::components(scene_, kept.array));
      std::vector<float>& values = state_.memory[name];
      if (values.empty()) values.assign(size, 0);
      if (values.size() == size) continue;
      throw harness::BadInput(
          fmt::format("checkpoint: {}: expected {} numbers, found {}", name, size, values.size()));
    }
  }

  /// The local ranks' shares of the batches first … last-1.
  [[nodiscard]] std::vector<Share> shares(int first, int last) const {
    std::vector<Share> all;
    for (const Part& part : parts_) {
      const std::int64_t begin = part.batch_begins[static_cast<std::size_t>(first)];
      Share share = part.share;
      share.positions += 2 * begin;
      share.frames += begin * spec::values(scene_, Array::frames);
      share.count = part.batch_begins[static_cast<std::size_t>(last)] - begin;
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
    const auto& positions = shards_.positions()[static_cast<std::size_t>(part.rank)];
    const auto count = static_cast<std::int64_t>(positions.size());
    std::vector<float> corners;
    part.batch_begins.assign(static_cast<std::size_t>(problem_.batches) + 1, 0);
    for (const std::int64_t n : positions) {
      // Exact, because no window begins before the box.
      const float* const corner = data.positions.data() + 2 * n;
      corners.push_back(corner[0] - static_cast<float>(part.held.row));
      corners.push_back(corner[1] - static_cast<float>(part.held.col));
      ++part.batch_begins[static_cast<std::size_t>(n % problem_.batches) + 1];
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

  void load_state(Part& part) {
    for (const Kept& kept : gpu::state_of<float>(kind_)) {
      const std::int64_t values =
          kept.is_object ? part.held.pixels() : spec::values(scene_, kept.array);
      const auto* const from = reinterpret_cast<const Value*>(components(state_, kept.array));
      auto*& to = part.share.*kept.part;
      to = cluster_.allocate_array<Value>(part.rank, values);
      if (!kept.is_object) {
        cluster_.write(part.rank, from, to, bytes(kept.array));
        continue;
      }
      for_each_row(part.held, [&](std::int64_t whole, std::int64_t tile, std::int64_t size) {
        cluster_.write(part.rank, from + whole, to + tile, size);
      });
    }
  }

  /// Calls body(first pixel in the object, first pixel in the box, bytes) for each row of a box.
  template <class Body>
  void for_each_row(const Box& box, const Body& body) const {
    for (std::int64_t row = 0; row < box.rows; ++row) {
      body((box.row + row) * scene_.cols + box.col,
           row * box.cols,
           box.cols * static_cast<std::int64_t>(sizeof(Value)));
    }
  }

  /// A rank's copy of an array, where the whole array has it; zeros around it.
  std::vector<Value> copy_of(const Part& part, const Kept& kept) {
    std::vector<Value> copy(static_cast<std::size_t>(spec::values(scene_, kept.array)));
    if (!kept.is_object) {
      cluster_.read(part.rank, part.share.*kept.part, copy.data(), bytes(kept.array));
      return copy;
    }
    for_each_row(part.held, [&](std::int64_t whole, std::int64_t at, std::int64_t size) {
      cluster_.read(part.rank, part.share.*kept.part + at, copy.data() + whole, size);
    });
    return copy;
  }

  /// Room on the rank's device for any array of the state, and for a number of each rank.
  Value* room(Part& part) {
    if (part.whole == nullptr) {
      part.whole = cluster_.allocate_array<Value>(part.rank,
                                                  std::max({spec::values(scene_, Array::object),
                                                            spec::values(scene_, Array::probe),
                                                            std::int64_t{cluster_.ranks()}}));
    }
    return part.whole;
  }

  /// Adds what `make` gives of each local part over all ranks. Bit by bit, so that where one rank
  /// alone has something else than zeros, the sum is that.
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
    std::vector<std::int32_t> sum(static_cast<std::size_t>(count));
    cluster_.read(parts_.front().rank, room(parts_.front()), sum.data(), size);
    return sum;
  }

  /// The bits of an array, of each value those of the lowest rank that has it.
  std::vector<std::int32_t> lowest_copy(const Kept& kept) {
    return sum_bits(spec::components(scene_, kept.array), [&](const Part& part) {
      std::vector<Value> copy = copy_of(part, kept);
      for (std::size_t i = 0; i < copy.size(); ++i) {
        if ((kept.is_object ? holders_[i] : 0) != part.rank) copy[i] = {};
      }
      return copy;
    });
  }

  /// Reads the whole of what lies in tiles on the ranks; pixels that no rank holds keep their
  /// values.
  void assemble(const Kept& kept, float* values) {
    const std::vector<std::int32_t> bits = lowest_copy(kept);
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (holders_[i / 2] >= 0) values[i] = std::bit_cast<float>(bits[i]);
    }
  }

  /// Whether a rank's copy of what it has of an array has these bits.
  [[nodiscard]] bool is_equal(const Part& part,
                              const Kept& kept,
                              const std::vector<std::int32_t>& bits) {
    const std::vector<Value> copy = copy_of(part, kept);
    const auto* const whole = reinterpret_cast<const Value*>(bits.data());
    if (!kept.is_object) {
      return std::memcmp(copy.data(), whole, static_cast<std::size_t>(bytes(kept.array))) == 0;
    }
    bool equal = true;
    for_each_row(part.held, [&](std::int64_t at, std::int64_t, std::int64_t size) {
      equal =
          equal && std::memcmp(copy.data() + at, whole + at, static_cast<std::size_t>(size)) == 0;
    });
    return equal;
  }

  /// The lowest rank with another copy than the lowest holder's; -1 where there is none.
  int unequal_rank(const Kept& kept) {
    const std::vector<std::int32_t> bits = lowest_copy(kept);
    const std::vector<std::int32_t> unequal = sum_bits(cluster_.ranks(), [&](const Part& part) {
      std::vector<std::int32_t> flags(static_cast<std::size_t>(cluster_.ranks()), 0);
      if (!is_equal(part, kept, bits)) flags[static_cast<std::size_t>(part.rank)] = 1;
      return flags;
    });
    const auto first = std::find(unequal.begin(), unequal.end(), 1);
    return first == unequal.end() ? -1 : static_cast<int>(first - unequal.begin());
  }

  gpu::StepKind kind_;
  Problem problem_;
  gpu::Cluster& cluster_;
  spec::Scene scene_;
  /// Null where the problem has them.
  std::unique_ptr<const Shards> own_shards_;
  const Shards& shards_;
  std::vector<Box> held_;
  std::vector<int> holders_;
  /// As state() last gave it.
  State state_;
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
