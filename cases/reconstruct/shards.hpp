#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/device/cluster.hpp"
#include "gpu/ptycho/partition.hpp"

#include "cases/reconstruct/dataset.hpp"

namespace rankcheck::cases::reconstruct {

/// The frames of a scan on the devices of a cluster: each rank has those of its own positions, and
/// a process reads no others.
class Shards {
 public:
  /// Copies every frame of the local ranks once. All processes of the cluster do so together.
  /// Throws BadInput as Dataset::read_frame().
  Shards(const Dataset& data, gpu::Cluster& cluster, gpu::Partition partition, int batches);

  /// The positions of each rank of the cluster, those of the first batch first, in order.
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& positions() const {
    return positions_;
  }
  /// The frames of cluster.local()[place], in the order of its positions, in its device's memory.
  [[nodiscard]] const float* frames(std::size_t place) const { return frames_[place]; }
  /// The sum of all ranks' frames: of each frame, then of these, so that it is the same for any
  /// partition.
  [[nodiscard]] double total() const { return total_; }
  /// The mean of all ranks' frames, [detector, detector]; only where the data have no probe.
  [[nodiscard]] const std::vector<double>& mean_frame() const { return mean_frame_; }
  /// That of all ranks' frames and the mask.
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  /// Adds numbers that each process has over all processes.
  template <class Number>
  void sum_over_processes(spec::Type type, std::span<Number> numbers);

  gpu::Cluster& cluster_;
  std::vector<std::vector<std::int64_t>> positions_;
  std::vector<float*> frames_;
  double total_ = 0;
  std::vector<double> mean_frame_;
  std::uint64_t fingerprint_ = 0;
};

}  // namespace rankcheck::cases::reconstruct
