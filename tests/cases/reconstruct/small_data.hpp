#pragma once

#include <algorithm>
#include <cstddef>

#include "reference/registry.hpp"

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"

#include "cases/reconstruct/reconstruction.hpp"
#include "cases/reconstruct/simulate.hpp"

/// A small scan, and simulated devices that reconstruct it.
namespace rankcheck::cases::reconstruct {

/// Returns a small scan with two modes, a probe smaller than the frames and a dead detector row.
inline Dataset small_data() {
  Dataset data = simulate({.positions = 13, .detector = 9, .probe = 7, .modes = 2, .step = 2});
  for (std::size_t i = 0; i < data.frames.size(); ++i) {
    if (i % 81 / 9 == 4) data.frames[i] = 0;
  }
  std::fill_n(data.mask.begin() + std::ptrdiff_t{4} * 9, 9, 0.0F);
  return data;
}

/// Simulated devices.
class Devices {
 public:
  explicit Devices(int ranks) { cluster_.begin(ranks, {}, {}); }

  [[nodiscard]] Problem problem(const Dataset& data, int batches) {
    return {.data = data, .cluster = cluster_, .batches = batches};
  }

 private:
  gpu::sim::SimCluster cluster_{reference::contract_named, gpu::algorithm_for};
};

}  // namespace rankcheck::cases::reconstruct
