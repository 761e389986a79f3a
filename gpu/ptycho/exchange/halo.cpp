#include "gpu/ptycho/exchange/halo.hpp"

#include "reference/spec/assert.hpp"

#include "gpu/ptycho/exchange/tiles.hpp"
#include "gpu/ptycho/kernels/arrays.hpp"

namespace rankcheck::gpu {

namespace {

using spec::Box;

/// The weight of a copy of a pixel. It falls near the edges of the box that the copy's rank holds,
/// except at the object's own edges.
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

/// Adds a weighted part to a tile, and its weights to the weights of the tile's pixels.
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

/// Computes a rank's tile from the parts that it received.
template <class T>
void combine(Cluster& cluster,
             const Tiling& tiling,
             Halo kind,
             const TileExchange& exchange,
             int rank,
             const Complex<T>* received,
             Complex<T>* tile) {
  const Box& held = exchange.held(rank);
  T* const weights = kind == Halo::blend ? cluster.allocate_array<T>(rank, held.pixels()) : nullptr;
  fill(cluster, rank, held.pixels(), tile, Complex<T>{});
  if (kind == Halo::blend) fill(cluster, rank, held.pixels(), weights, T{0});
  exchange.for_each_part(rank, received, [&](int from, const Box& box, const Complex<T>* part) {
    const Places places{box, held};
    switch (kind) {
      case Halo::replace:
        launch(cluster, rank, box.pixels(), PutPart<Complex<T>>{part, tile, places});
        break;
      case Halo::accumulate:
        launch(cluster, rank, box.pixels(), AddPart<Complex<T>>{part, tile, places});
        break;
      case Halo::blend: {
        const Ramps ramps{exchange.held(from), tiling.rows, tiling.cols, 2 * tiling.halo + 1};
        launch(cluster, rank, box.pixels(), AddWeighted<T>{part, tile, weights, places, ramps});
      }
    }
  });
  if (kind == Halo::blend) launch(cluster, rank, held.pixels(), Divide<T>{tile, weights});
}

}  // namespace

Tiling tiling_of(const spec::OperatorCall& call) {
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
  const auto& given = kind == Halo::replace ? tiling.owned : tiling.held;
  RANKCHECK_ASSERT(out.size() == cluster.local().size());
  TileExchange exchange(cluster, given, tiling.held);
  const std::vector<const Complex<T>*> received = exchange.exchange(in);
  for (std::size_t place = 0; place < out.size(); ++place) {
    const int rank = cluster.local()[place];
    combine(cluster, tiling, kind, exchange, rank, received[place], out[place]);
  }
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
