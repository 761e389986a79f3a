#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

/// How the copies of a pixel are combined; see the contracts of the operations halo_<name>.
enum class Halo : std::uint8_t { accumulate, replace, blend };

/// An object divided into tiles: the pixels of each rank of a cluster.
struct Tiling {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t halo = 0;
  /// The pixels that each rank owns. No pixel belongs to two ranks.
  std::vector<spec::Box> owned = {};
  /// The pixels that each rank holds: its own pixels and a halo.
  std::vector<spec::Box> held = {};
};

[[nodiscard]] Tiling tiling_of(const spec::OperatorCall& call);

/// Exchanges the copies of pixels between all ranks that hold them. `in` and `out` are the tiles of
/// the local ranks, in their order. The arrays of `in` and `out` must not be the same.
template <class T>
void exchange_halos(Cluster& cluster,
                    const Tiling& tiling,
                    Halo kind,
                    const std::vector<const Complex<T>*>& in,
                    const std::vector<Complex<T>*>& out);

/// Runs the operation halo_<kind>.
void run_halo(const OperatorRun& run, Halo kind);

}  // namespace rankcheck::gpu
