#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/device/cluster.hpp"
#include "gpu/ptycho/exchange/partition.hpp"

#include "cases/reconstruct/dataset.hpp"

namespace rankcheck::cases::reconstruct {

/// The frames of a scan on the devices of a cluster. Each rank has the frames of its own positions,
/// and a process reads no others. The cluster owns the memory and must outlive this object.
class Shards {
 public:
  /// Copies every frame of the local ranks once. All processes of the cluster must do this
  /// together. Throws BadInput like Dataset::read_frame().
  Shards(const Dataset& data, gpu::Cluster& cluster, gpu::Partition partition, int batches);

  /// Returns the positions of each rank of the cluster, in the order of the batches and ascending
  /// within a batch.
  [[nodiscard]] const std::vector<std::vector<std::int64_t>>& positions() const {
    return positions_;
  }
  /// Returns the frames of rank cluster.local()[place], in the order of its positions. They are in
  /// its device's memory.
  [[nodiscard]] const float* frames(std::size_t place) const { return frames_[place]; }
  /// Returns the sum of all ranks' frames. Each frame is summed first, then these sums, so the
  /// result is the same for any partition.
  [[nodiscard]] double total() const { return total_; }
  /// Returns the mean of all ranks' frames, [detector, detector]. Empty if the data have a probe.
  [[nodiscard]] const std::vector<double>& mean_frame() const { return mean_frame_; }
  /// Returns a number that distinguishes the measurement from others: the sum modulo 2^64 of the
  /// mask's hash and a hash of each frame with its position in the scan. So the frames may come in
  /// any order.
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }

 private:
  /// Sums numbers of each process over all processes.
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
