#include "reference/ptycho/halo.hpp"
#include "reference/ptycho/references.hpp"

namespace rankcheck::reference::halo_accumulate {

/// Needs the ranks' tiles and makes new tiles.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  const BoundedArray& tile = in[spec::Array::tile];
  BoundedArray& summed = out.make(spec::Array::tile);
  for_each_replicated_pixel(
      in, [&](std::int64_t, std::int64_t, const std::vector<Replica>& replicas) {
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
        for (const Replica& replica : replicas) {
          summed.values[replica.place] = sum;
          summed.errors[replica.place] = error;
        }
      });
}

}  // namespace rankcheck::reference::halo_accumulate
