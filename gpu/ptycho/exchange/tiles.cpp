#include "gpu/ptycho/exchange/tiles.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/kernels/arrays.hpp"

namespace rankcheck::gpu {

namespace {

using spec::Box;

template <class Value>
std::byte* bytes_of(Value* values) {
  return reinterpret_cast<std::byte*>(values);
}

/// Makes positions relative to a pixel.
template <class T>
struct Move {
  const T* positions;
  T* moved;
  T row;
  T col;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    moved[i] = positions[i] - (i % 2 == 0 ? row : col);
  }
};

/// The first row and the end row under windows whose corners span [least, most], limited to 0 …
/// size. Used for columns too.
template <class T>
std::array<std::int64_t, 2> covered(T least, T most, std::int64_t window, std::int64_t size) {
  const auto begin = static_cast<std::int64_t>(std::floor(least));
  const auto end = static_cast<std::int64_t>(std::floor(most)) + window + 1;
  return {std::clamp<std::int64_t>(begin, 0, size), std::clamp<std::int64_t>(end, 0, size)};
}

}  // namespace

TileExchange::TileExchange(Cluster& cluster, std::vector<Box> given, std::vector<Box> held)
    : cluster_(cluster),
      given_(std::move(given)),
      held_(std::move(held)),
      sent_(cluster),
      received_(cluster) {
  RANKCHECK_ASSERT(given_.size() == spec::to_size(cluster.ranks()));
  RANKCHECK_ASSERT(held_.size() == given_.size());
}

template <class Value>
void TileExchange::pack(int rank, const Value* tile, Value* parts) {
  for (int to = 0; to < cluster_.ranks(); ++to) {
    const Box box = part(rank, to);
    launch(cluster_, rank, box.pixels(), TakePart<Value>{tile, parts, {box, held(rank)}});
    parts += box.pixels();
  }
}

template <class Value>
std::vector<const Value*> TileExchange::exchange(const std::vector<const Value*>& tiles) {
  RANKCHECK_ASSERT(tiles.size() == cluster_.local().size());
  const int n = cluster_.ranks();
  const auto bytes = static_cast<std::int64_t>(sizeof(Value));
  std::vector<const Value*> received;
  std::vector<DeviceBuffers> buffers;
  for (const int rank : cluster_.local()) {
    std::int64_t pixels_out = 0;
    std::int64_t pixels_in = 0;
    for (int other = 0; other < n; ++other) {
      pixels_out += part(rank, other).pixels();
      pixels_in += part(other, rank).pixels();
    }
    buffers.push_back({.send = sent_.get(rank, pixels_out * bytes),
                       .recv = received_.get(rank, pixels_in * bytes)});
    pack(rank, tiles[received.size()], reinterpret_cast<Value*>(buffers.back().send));
    received.push_back(reinterpret_cast<const Value*>(buffers.back().recv));
  }
  spec::Call call{.ranks = n, .type = component_type<Value>};
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      call.counts.push_back(part(from, to).pixels() * components_of<Value>);
    }
  }
  cluster_.collective("all_to_all_v", call, false, buffers);
  return received;
}

template std::vector<const float*> TileExchange::exchange(const std::vector<const float*>&);
template std::vector<const double*> TileExchange::exchange(const std::vector<const double*>&);
template std::vector<const Complex<float>*> TileExchange::exchange(
    const std::vector<const Complex<float>*>&);
template std::vector<const Complex<double>*> TileExchange::exchange(
    const std::vector<const Complex<double>*>&);

template <class T>
Box box_of_windows(const spec::Scene& scene, std::span<const T> positions) {
  RANKCHECK_ASSERT(positions.size() % 2 == 0);
  if (positions.empty()) return {};
  std::array<T, 2> least{positions[0], positions[1]};
  std::array<T, 2> most = least;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    least[i % 2] = std::min(least[i % 2], positions[i]);
    most[i % 2] = std::max(most[i % 2], positions[i]);
  }
  const auto [row, row_end] = covered(least[0], most[0], scene.window, scene.rows);
  const auto [col, col_end] = covered(least[1], most[1], scene.window, scene.cols);
  return {.row = row, .col = col, .rows = row_end - row, .cols = col_end - col};
}

template Box box_of_windows(const spec::Scene&, std::span<const float>);
template Box box_of_windows(const spec::Scene&, std::span<const double>);

std::vector<Box> gather_boxes(Cluster& cluster, std::span<const Box> local) {
  RANKCHECK_ASSERT(!local.empty() && local.size() == cluster.local().size());
  constexpr std::int64_t sides = 4;
  std::vector<DeviceBuffers> buffers;
  for (const Box& box : local) {
    const int rank = cluster.local()[buffers.size()];
    // Doubles represent whole numbers of this size exactly, and every collective supports them.
    const std::array<double, sides> values{static_cast<double>(box.row),
                                           static_cast<double>(box.col),
                                           static_cast<double>(box.rows),
                                           static_cast<double>(box.cols)};
    auto* const own = cluster.allocate_array<double>(rank, sides);
    cluster.write(rank, values.data(), own, sizeof(values));
    auto* const all = cluster.allocate_array<double>(rank, sides * cluster.ranks());
    buffers.push_back({.send = bytes_of(own), .recv = bytes_of(all)});
  }
  cluster.collective("all_gather",
                     {.ranks = cluster.ranks(), .type = spec::Type::f64, .count = sides},
                     false,
                     buffers);
  const auto* const all = reinterpret_cast<const std::array<double, sides>*>(buffers.front().recv);
  const auto values = cluster.read_array(cluster.local().front(), all, cluster.ranks());
  std::vector<Box> boxes;
  for (const auto& [row, col, rows, cols] : values) {
    boxes.push_back({.row = static_cast<std::int64_t>(row),
                     .col = static_cast<std::int64_t>(col),
                     .rows = static_cast<std::int64_t>(rows),
                     .cols = static_cast<std::int64_t>(cols)});
  }
  return boxes;
}

std::vector<Box> whole_objects(const spec::Scene& scene, int ranks) {
  return {spec::to_size(ranks), Box{.rows = scene.rows, .cols = scene.cols}};
}

template <class T>
void move_positions(
    Cluster& cluster, int rank, std::int64_t count, const Box& box, const T* positions, T* moved) {
  launch(cluster,
         rank,
         2 * count,
         Move<T>{positions, moved, static_cast<T>(box.row), static_cast<T>(box.col)});
}

template void move_positions(Cluster&, int, std::int64_t, const Box&, const float*, float*);
template void move_positions(Cluster&, int, std::int64_t, const Box&, const double*, double*);

template <class T>
void assemble(Cluster& cluster,
              const spec::Scene& scene,
              std::span<const Box> held,
              const std::vector<Complex<T>*>& tiles,
              const std::vector<Complex<T>*>& objects) {
  RANKCHECK_ASSERT(held.size() == spec::to_size(cluster.ranks()));
  RANKCHECK_ASSERT(tiles.size() == cluster.local().size() && objects.size() <= tiles.size());
  spec::Call call{.ranks = cluster.ranks(), .type = component_type<T>};
  std::int64_t pixels = 0;
  for (const Box& box : held) {
    call.counts.push_back(2 * box.pixels());
    pixels += box.pixels();
  }
  std::vector<DeviceBuffers> buffers;
  for (Complex<T>* const tile : tiles) {
    const int rank = cluster.local()[buffers.size()];
    auto* const all = cluster.allocate_array<Complex<T>>(rank, pixels);
    buffers.push_back({.send = bytes_of(tile), .recv = bytes_of(all)});
  }
  cluster.collective("all_gather_v", call, false, buffers);
  const Box whole{.rows = scene.rows, .cols = scene.cols};
  for (std::size_t place = 0; place < objects.size(); ++place) {
    const int rank = cluster.local()[place];
    // Parts are put from the last rank to the first one, so that the lowest rank's pixels remain.
    const auto* part = reinterpret_cast<const Complex<T>*>(buffers[place].recv) + pixels;
    for (std::size_t from = held.size(); from-- > 0;) {
      const Box& box = held[from];
      part -= box.pixels();
      launch(cluster,
             rank,
             box.pixels(),
             PutPart<Complex<T>>{part, objects[place], {.part = box, .tile = whole}});
    }
  }
}

template void assemble(Cluster&,
                       const spec::Scene&,
                       std::span<const Box>,
                       const std::vector<Complex<float>*>&,
                       const std::vector<Complex<float>*>&);
template void assemble(Cluster&,
                       const spec::Scene&,
                       std::span<const Box>,
                       const std::vector<Complex<double>*>&,
                       const std::vector<Complex<double>*>&);

}  // namespace rankcheck::gpu
