#include "gpu/ptycho/exchange/partition.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/plan/random.hpp"
#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

namespace {

/// One coordinate of all positions, in steps of 1/256 pixel.
class Axis {
 public:
  Axis(std::span<const double> positions, std::size_t first) {
    for (std::size_t i = first; i < positions.size(); i += 2) {
      steps_.push_back(static_cast<std::int64_t>(std::floor(positions[i] * 256 + 0.5)));
    }
    if (steps_.empty()) return;
    const auto [least, most] = std::minmax_element(steps_.begin(), steps_.end());
    least_ = *least;
    extent_ = *most - *least;
  }

  [[nodiscard]] std::int64_t operator[](std::size_t i) const { return steps_[i]; }

  /// Returns the cell of position i, out of `cells` equal cells. A position on an edge belongs to
  /// the lower cell.
  [[nodiscard]] int cell(std::size_t i, int cells) const {
    if (extent_ == 0) return 0;
    const std::int64_t scaled = (steps_[i] - least_) * cells;
    const std::int64_t above = (scaled + extent_ - 1) / extent_;
    return static_cast<int>(std::max<std::int64_t>(above - 1, 0));
  }

 private:
  std::vector<std::int64_t> steps_;
  std::int64_t least_ = 0;
  std::int64_t extent_ = 0;
};

/// In any order of `count` positions with nearly equal shares, returns the index of the first
/// position of rank `rank`.
std::size_t share_begin(std::size_t count, int ranks, int rank) {
  const auto n = spec::to_size(ranks);
  const auto r = spec::to_size(rank);
  return r * (count / n) + std::min(r, count % n);
}

/// Distributes positions to the ranks in the order of their keys. Equal keys are ordered by the
/// position's number.
class Sharer {
 public:
  Sharer(std::size_t count, int ranks) : order_(count), owners_(count), ranks_(ranks) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
  }

  /// Distributes nearly equal shares in the order of the keys.
  template <class Key>
  void in_order(const Key& key) {
    sort(0, order_.size(), key);
    for (int rank = 0; rank < ranks_; ++rank) give(rank);
  }

  /// Halves the positions of the ranks first … last-1 along the longer side of their box, until
  /// each part belongs to one rank.
  void halve(const Axis& rows, const Axis& cols, int first, int last) {
    if (last - first == 1) return give(first);
    const std::size_t begin = share_begin(order_.size(), ranks_, first);
    const std::size_t end = share_begin(order_.size(), ranks_, last);
    const bool along_rows = extent(rows, begin, end) >= extent(cols, begin, end);
    const Axis& along = along_rows ? rows : cols;
    const Axis& across = along_rows ? cols : rows;
    sort(begin, end, [&](std::size_t i) { return std::pair(along[i], across[i]); });
    const int middle = first + (last - first) / 2;
    halve(rows, cols, first, middle);
    halve(rows, cols, middle, last);
  }

  [[nodiscard]] std::vector<int> owners() && { return std::move(owners_); }

 private:
  template <class Key>
  void sort(std::size_t begin, std::size_t end, const Key& key) {
    std::sort(
        order_.begin() + static_cast<std::ptrdiff_t>(begin),
        order_.begin() + static_cast<std::ptrdiff_t>(end),
        [&](std::size_t a, std::size_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
  }

  [[nodiscard]] std::int64_t extent(const Axis& axis, std::size_t begin, std::size_t end) const {
    if (begin == end) return 0;
    std::int64_t least = axis[order_[begin]];
    std::int64_t most = least;
    for (std::size_t i = begin; i < end; ++i) {
      least = std::min(least, axis[order_[i]]);
      most = std::max(most, axis[order_[i]]);
    }
    return most - least;
  }

  /// Gives a rank its share of the present order.
  void give(int rank) {
    const std::size_t end = share_begin(order_.size(), ranks_, rank + 1);
    for (std::size_t i = share_begin(order_.size(), ranks_, rank); i < end; ++i) {
      owners_[order_[i]] = rank;
    }
  }

  std::vector<std::size_t> order_;
  std::vector<int> owners_;
  int ranks_;
};

std::uint64_t hash_of(std::size_t number) {
  return plan::split_mix((std::uint64_t{number} + 1) * plan::golden_gamma);
}

/// The columns of a grid of `cells` cells that is as square as possible. There are no more columns
/// than rows.
int grid_cols(int cells) {
  int cols = static_cast<int>(std::sqrt(static_cast<double>(cells) + 0.5));
  while (cells % cols != 0) --cols;
  return cols;
}

int quadrant(const Axis& rows, const Axis& cols, std::size_t i, int ranks) {
  const int band = rows.cell(i, ranks) / 2;
  const bool halved = 2 * band + 1 < ranks;
  return 2 * band + (halved ? cols.cell(i, 2) : 0);
}

std::vector<int> owners_by(std::size_t count, const auto& owner) {
  std::vector<int> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = owner(i);
  return all;
}

template <class T>
void run_typed(const OperatorRun& run, Partition kind) {
  Cluster& cluster = run.cluster();
  spec::Call gather{.ranks = cluster.ranks(), .type = run.call().type};
  std::int64_t components = 0;
  for (const std::int64_t count : run.call().counts) {
    gather.counts.push_back(2 * count);
    components += gather.counts.back();
  }
  std::vector<T*> gathered;
  std::vector<DeviceBuffers> buffers;
  for (const int rank : run.local()) {
    gathered.push_back(cluster.allocate_array<T>(rank, components));
    // Collectives do not change what they send, so removing const is safe.
    T* const own = const_cast<T*>(run.in<T>(rank, spec::Array::positions));
    buffers.push_back({.send = reinterpret_cast<std::byte*>(own),
                       .recv = reinterpret_cast<std::byte*>(gathered.back())});
  }
  cluster.collective("all_gather_v", gather, false, buffers);
  std::size_t place = 0;
  for (const int rank : run.local()) {
    const std::vector<T> read = cluster.read_array(rank, gathered[place++], components);
    const std::vector<double> positions(read.begin(), read.end());
    const std::vector<int> all = owners(kind, positions, cluster.ranks());
    cluster.write_array(
        rank, std::vector<T>(all.begin(), all.end()), run.out<T>(rank, spec::Array::owners));
  }
}

}  // namespace

std::vector<int> owners(Partition kind, std::span<const double> positions, int ranks) {
  RANKCHECK_ASSERT(positions.size() % 2 == 0 && ranks > 0);
  const std::size_t count = positions.size() / 2;
  const Axis rows(positions, 0);
  const Axis cols(positions, 1);
  const int across = grid_cols(ranks);
  Sharer sharer(count, ranks);
  switch (kind) {
    case Partition::quadrants:
      return owners_by(count, [&](std::size_t i) { return quadrant(rows, cols, i, ranks); });
    case Partition::stripes:
      return owners_by(count, [&](std::size_t i) { return rows.cell(i, ranks); });
    case Partition::grid:
      return owners_by(count, [&](std::size_t i) {
        return rows.cell(i, ranks / across) * across + cols.cell(i, across);
      });
    case Partition::interlaced:
      return owners_by(count,
                       [&](std::size_t i) { return static_cast<int>(i % spec::to_size(ranks)); });
    case Partition::equal_stripes:
      sharer.in_order([&](std::size_t i) { return std::pair(rows[i], cols[i]); });
      break;
    case Partition::compact:
      sharer.halve(rows, cols, 0, ranks);
      break;
    case Partition::random:
      sharer.in_order(hash_of);
      break;
    case Partition::consecutive:
      sharer.in_order([](std::size_t i) { return i; });
      break;
  }
  return std::move(sharer).owners();
}

void run_partition(const OperatorRun& run, Partition kind) {
  with_precision(run.call().type, [&]<class T>() { run_typed<T>(run, kind); });
}

}  // namespace rankcheck::gpu
