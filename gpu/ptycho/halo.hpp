#pragma once

#include <cstdint>
#include <vector>

#include "reference/spec/share.hpp"

#include "gpu/ptycho/operator.hpp"

namespace rankcheck::gpu {

/// What becomes of the copies of a pixel; see the contracts of the operations halo_<name>.
enum class Halo : std::uint8_t { accumulate, replace, blend };

/// An object in tiles: the pixels of each rank of a cluster.
struct Tiling {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t halo = 0;
  /// What each rank owns; no pixel belongs to two.
  std::vector<spec::Box> owned = {};
  /// What each rank holds: what it owns, with a halo.
  std::vector<spec::Box> held = {};
};

[[nodiscard]] Tiling tiling_of(const spec::Call& call);

/// Exchanges the copies of pixels between all ranks that hold them. `in` and `out` are the local
/// ranks' tiles, in their order, and differ.
template <class T>
void exchange_halos(Cluster& cluster,
                    const Tiling& tiling,
                    Halo kind,
                    const std::vector<const Complex<T>*>& in,
                    const std::vector<Complex<T>*>& out);

/// What the operations halo_… do.
void run_halo(const OperatorRun& run, Halo kind);

}  // namespace rankcheck::gpu
