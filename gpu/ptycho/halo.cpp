#include "gpu/ptycho/halo.hpp"

#include <algorithm>

#include "gpu/ptycho/arrays.hpp"

namespace rankcheck::gpu {

namespace {

using spec::Box;

template <class T>
constexpr spec::Type type_of = sizeof(T) == sizeof(double) ? spec::Type::f64 : spec::Type::f32;

/// Where the pixel number i of a part lies in the tile that holds it.
struct Places {
  Box part;
  Box tile;

  RANKCHECK_HD std::int64_t operator()(std::int64_t i) const {
    const std::int64_t row = part.row + i / part.cols - tile.row;
    return row * tile.cols + part.col + i % part.cols - tile.col;
  }
};

/// Takes a part out of a tile.
template <class T>
struct Pack {
  const Complex<T>* tile;
  Complex<T>* part;
  Places places;

  RANKCHECK_HD void operator()(std::int64_t i) const { part[i] = tile[places(i)]; }
};

/// Puts a part into a tile.
template <class T>
struct Put {
  const Complex<T>* part;
  Complex<T>* tile;
  Places places;

  RANKCHECK_HD void operator()(std::int64_t i) const { tile[places(i)] = part[i]; }
};

/// Adds a part to a tile.
template <class T>
struct Add {
  const Complex<T>* part;
  Complex<T>* tile;
  Places places;

  RANKCHECK_HD void operator()(std::int64_t i) const { tile[places(i)] += part[i]; }
};

/// How much a copy counts: less near the edges of what its rank holds.
struct Ramps {
  Box held;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t most;

  RANKCHECK_HD static std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

  RANKCHECK_HD std::int64_t operator()(std::int64_t row, std::int64_t col) const {
    std::int64_t down = most;
    if (held.row > 0) down = least(down, row - held.row + 1);
    if (held.row + held.rows < rows) down = least(down, held.row + held.rows - row);
    std::int64_t across = most;
    if (held.col > 0) across = least(across, col - held.col + 1);
    if (held.col + held.cols < cols) across = least(across, held.col + held.cols - col);
    return down * across;
  }
};

/// Adds a part to a tile, weighted, and the weights to those of the tile's pixels.
template <class T>
struct AddWeighted {
  const Complex<T>* part;
  Complex<T>* tile;
  T* weights;
  Places places;
  Ramps ramps;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const T weight = static_cast<T>(
        ramps(places.part.row + i / places.part.cols, places.part.col + i % places.part.cols));
    tile[places(i)] += weight * part[i];
    weights[places(i)] += weight;
  }
};

template <class T>
struct Divide {
  Complex<T>* tile;
  const T* weights;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    tile[i] = {tile[i].re / weights[i], tile[i].im / weights[i]};
  }
};

/// One exchange of parts of tiles between all pairs of ranks, and what becomes of them.
template <class T>
class Exchange {
 public:
  Exchange(Cluster& cluster, const Tiling& tiling, Halo kind)
      : cluster_(cluster), tiling_(tiling), kind_(kind) {}

  void run(const std::vector<const Complex<T>*>& in, const std::vector<Complex<T>*>& out) {
    std::vector<Complex<T>*> received;
    std::vector<DeviceBuffers> buffers;
    for (const int rank : cluster_.local()) {
      Complex<T>* const parts = pack(rank, in[received.size()]);
      std::int64_t pixels = 0;
      for (int from = 0; from < cluster_.ranks(); ++from) pixels += part(from, rank).pixels();
      received.push_back(cluster_.allocate_array<Complex<T>>(rank, pixels));
      buffers.push_back({.send = reinterpret_cast<std::byte*>(parts),
                         .recv = reinterpret_cast<std::byte*>(received.back())});
    }
    spec::Call call{.ranks = cluster_.ranks(), .type = type_of<T>};
    for (int from = 0; from < call.ranks; ++from) {
      for (int to = 0; to < call.ranks; ++to) call.counts.push_back(2 * part(from, to).pixels());
    }
    cluster_.collective("all_to_all_v", call, false, buffers);
    for (std::size_t place = 0; place < out.size(); ++place) {
      combine(cluster_.local()[place], received[place], out[place]);
    }
  }

 private:
  /// What one rank gives to another one, or to itself: the order of the sums then is the same on
  /// all ranks.
  [[nodiscard]] Box part(int from, int to) const {
    const auto& source = kind_ == Halo::replace ? tiling_.owned : tiling_.held;
    return overlap(source[static_cast<std::size_t>(from)], held(to));
  }
  [[nodiscard]] const Box& held(int rank) const {
    return tiling_.held[static_cast<std::size_t>(rank)];
  }

  /// A rank's parts for all ranks, in rank order.
  Complex<T>* pack(int rank, const Complex<T>* tile) {
    std::int64_t pixels = 0;
    for (int to = 0; to < cluster_.ranks(); ++to) pixels += part(rank, to).pixels();
    auto* const parts = cluster_.allocate_array<Complex<T>>(rank, pixels);
    Complex<T>* next = parts;
    for (int to = 0; to < cluster_.ranks(); ++to) {
      const Box box = part(rank, to);
      launch(cluster_, rank, box.pixels(), Pack<T>{tile, next, {box, held(rank)}});
      next += box.pixels();
    }
    return parts;
  }

  /// Makes a rank's tile of the parts from all ranks, in rank order.
  void combine(int rank, const Complex<T>* parts, Complex<T>* tile) {
    const std::int64_t pixels = held(rank).pixels();
    T* const weights = cluster_.allocate_array<T>(rank, pixels);
    fill(cluster_, rank, pixels, tile, Complex<T>{});
    fill(cluster_, rank, pixels, weights, T{0});
    for (int from = 0; from < cluster_.ranks(); ++from) {
      const Box box = part(from, rank);
      const Places places{box, held(rank)};
      switch (kind_) {
        case Halo::replace:
          launch(cluster_, rank, box.pixels(), Put<T>{parts, tile, places});
          break;
        case Halo::accumulate:
          launch(cluster_, rank, box.pixels(), Add<T>{parts, tile, places});
          break;
        case Halo::blend: {
          const Ramps ramps{held(from), tiling_.rows, tiling_.cols, 2 * tiling_.halo + 1};
          launch(cluster_, rank, box.pixels(), AddWeighted<T>{parts, tile, weights, places, ramps});
        }
      }
      parts += box.pixels();
    }
    if (kind_ == Halo::blend) launch(cluster_, rank, pixels, Divide<T>{tile, weights});
  }

  Cluster& cluster_;
  const Tiling& tiling_;
  Halo kind_;
};

}  // namespace

Tiling tiling_of(const spec::Call& call) {
  Tiling tiling{.rows = call.scene.rows, .cols = call.scene.cols, .halo = call.scene.halo};
  for (int rank = 0; rank < call.ranks; ++rank) {
    tiling.owned.push_back(tile_of(call.scene, call.counts, rank));
    tiling.held.push_back(held_by(call.scene, call.counts, rank));
  }
  return tiling;
}

template <class T>
void exchange_halos(Cluster& cluster,
                    const Tiling& tiling,
                    Halo kind,
                    const std::vector<const Complex<T>*>& in,
                    const std::vector<Complex<T>*>& out) {
  Exchange<T>(cluster, tiling, kind).run(in, out);
}

template void exchange_halos(Cluster&,
                             const Tiling&,
                             Halo,
                             const std::vector<const Complex<float>*>&,
                             const std::vector<Complex<float>*>&);
template void exchange_halos(Cluster&,
                             const Tiling&,
                             Halo,
                             const std::vector<const Complex<double>*>&,
                             const std::vector<Complex<double>*>&);

void run_halo(const OperatorRun& run, Halo kind) {
  with_precision(run.call().type, [&]<class T>() {
    std::vector<const Complex<T>*> in;
    std::vector<Complex<T>*> out;
    for (const int rank : run.local()) {
      in.push_back(run.in<Complex<T>>(rank, spec::Array::tile));
      out.push_back(run.out<Complex<T>>(rank, spec::Array::tile));
    }
    exchange_halos(run.cluster(), tiling_of(run.call()), kind, in, out);
  });
}

}  // namespace rankcheck::gpu
