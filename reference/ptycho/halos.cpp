#include <algorithm>

#include "reference/ptycho/halo.hpp"
#include "reference/ptycho/references.hpp"

/// References of the halo exchanges. Each needs the ranks' tiles and makes new tiles.
namespace rankcheck::reference {

namespace {

using spec::Array;

/// The ramp at row or column `at`, if the rank holds `count` rows or columns from `begin` on, and
/// the object has `length` of them.
std::int64_t ramp(std::int64_t at,
                  std::int64_t begin,
                  std::int64_t count,
                  std::int64_t length,
                  std::int64_t halo) {
  const std::int64_t end = begin + count;
  std::int64_t least = 2 * halo + 1;
  if (begin > 0) least = std::min(least, at - begin + 1);
  if (end < length) least = std::min(least, end - at);
  return least;
}

/// Gives all copies of a pixel the same value and error.
void set_copies(const std::vector<Replica>& replicas,
                std::complex<double> value,
                double error,
                BoundedArray& tile) {
  for (const Replica& replica : replicas) {
    tile.values[replica.place] = value;
    tile.errors[replica.place] = error;
  }
}

}  // namespace

void halo_accumulate::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& tile = in[Array::tile];
  BoundedArray& summed = out.make(Array::tile);
  for_each_replicated_pixel(in, [&](std::int64_t, std::int64_t, const auto& replicas) {
    std::complex<double> sum = 0;
    double magnitude = 0;
    double error = 0;
    for (const Replica& replica : replicas) {
      sum += tile.values[replica.place];
      error += tile.errors[replica.place];
      magnitude += std::abs(tile.values[replica.place]) + tile.errors[replica.place];
    }
    // A sum of k terms in any order rounds each term at most k - 1 times.
    error += (static_cast<double>(replicas.size()) - 1) * in.unit * magnitude;
    set_copies(replicas, sum, error, summed);
  });
}

void halo_blend::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& tile = in[Array::tile];
  const spec::Scene& scene = in.scene;
  BoundedArray& blended = out.make(Array::tile);
  for_each_replicated_pixel(in, [&](std::int64_t row, std::int64_t col, const auto& replicas) {
    std::complex<double> sum = 0;
    double weights = 0;
    double magnitude = 0;
    double error = 0;
    for (const Replica& replica : replicas) {
      const spec::Box& box = replica.box;
      const auto weight = static_cast<double>(ramp(row, box.row, box.rows, scene.rows, scene.halo) *
                                              ramp(col, box.col, box.cols, scene.cols, scene.halo));
      weights += weight;
      sum += weight * tile.values[replica.place];
      error += weight * tile.errors[replica.place];
      magnitude += weight * (std::abs(tile.values[replica.place]) + tile.errors[replica.place]);
    }
    // Roundings with k copies: the weights' conversion to T above and below, a product and k - 1
    // sums above, k - 1 sums below, and a quotient. One more covers the terms of higher order.
    const double roundings = 2 * static_cast<double>(replicas.size()) + 3;
    set_copies(
        replicas, sum / weights, (error + roundings * in.unit * magnitude) / weights, blended);
  });
}

void halo_replace::reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& tile = in[Array::tile];
  BoundedArray& replaced = out.make(Array::tile);
  for_each_replicated_pixel(in, [&](std::int64_t, std::int64_t, const auto& replicas) {
    for (const Replica& owner : replicas) {
      if (!owner.owner) continue;
      set_copies(replicas, tile.values[owner.place], tile.errors[owner.place], replaced);
    }
  });
}

}  // namespace rankcheck::reference
