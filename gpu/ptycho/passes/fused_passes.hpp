#pragma once

#include <algorithm>
#include <cstdint>

#include "reference/spec/scene.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/scratch.hpp"
#include "gpu/ptycho/kernels/pixel.hpp"
#include "gpu/ptycho/kernels/strips.hpp"
#include "gpu/ptycho/passes/batched_passes.hpp"

/// The model of one slice in few passes over large batches, which suits GPUs: data that were loaded
/// once serve as many purposes as possible. The order of every sum depends only on sizes and
/// positions.
namespace rankcheck::gpu {

template <class T>
class FusedPasses {
 public:
  /// `scene` must have one slice. A batch has at most `batch_max` positions. If `batch_max` is 0,
  /// Cluster::batch_max decides. If that is 0 too, a batch has at most 512 MiB of waves, but at
  /// least one position.
  FusedPasses(Cluster& cluster, const spec::Scene& scene, std::int64_t batch_max = 0);

  /// Calls body(Batch) for one batch after another of `count` positions. The waves of a default
  /// batch are many times as large as a device's caches, but leave most of its memory free.
  template <class Body>
  void for_each_batch(std::int64_t count, const Body& body) const {
    for (std::int64_t first = 0; first < count; first += batch_max_) {
      body(Batch{.first = first, .count = std::min(batch_max_, count - first)});
    }
  }

  /// Room for the waves of a batch: complex [count, modes, detector, detector].
  [[nodiscard]] Complex<T>* waves(int rank, std::int64_t count) {
    return waves_.get(rank, count * wave_size());
  }

  /// Writes the waves that leave the object, and zeros around their windows. A pixel of the patch
  /// is computed once for all modes.
  void illuminate(int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves);

  /// Compares far waves with the frames, reading each wave once. The waves to compare are `scale`
  /// times `waves`. Adds the frames' cost to *cost. Writes `waves` times the gradient's factor
  /// times `factor_scale` to `gradient`, which may be the same array as `waves`.
  void compare(int rank,
               Noise noise,
               const ScanShare<T>& scan,
               Batch batch,
               T scale,
               T factor_scale,
               const Complex<T>* waves,
               Complex<T>* gradient,
               double* cost);

  /// Adds conj(probe) times the waves to the object. First, the positions near each tile of the
  /// object are marked. Then each thread processes a few object pixels below one another and adds
  /// the contributions of the marked positions in order. So no two threads write the same address.
  void add_to_object(
      int rank, const ScanShare<T>& scan, Batch batch, const Complex<T>* waves, Complex<T>* object);

  /// Adds conj(object) times the waves to a shared probe. If each position has its own probe,
  /// writes the product instead.
  void add_to_probe(
      int rank, const ScanShare<T>& scan, Batch batch, const Complex<T>* waves, Complex<T>* probe);

  /// Adds the probes' light to the weights of the object's pixels, see object_preconditioner. It
  /// works as add_to_object() does.
  void add_light(int rank, const ScanShare<T>& scan, Batch batch, T* object_weight);

  /// Adds the squares of the object under the windows to the weights of the probe's pixels, see
  /// probe_preconditioner.
  void add_magnitudes(int rank, const ScanShare<T>& scan, Batch batch, T* probe_weight);

 private:
  [[nodiscard]] std::int64_t wave_size() const {
    return std::int64_t{scene_.modes} * scene_.detector * scene_.detector;
  }
  /// Writes the windows of a batch of positions to windows_, and returns them. `positions` are
  /// those of all the rank's positions.
  [[nodiscard]] const PlacedWindow<T>* place(int rank, const T* positions, Batch batch);
  template <class Number>
  [[nodiscard]] ObjectColumns<T, Number> columns(const Complex<T>* object) const;
  void add_up(int rank, std::int64_t count, double* cost);
  /// Adds the contributions of a batch's windows to an array of the object's pixels.
  template <class Value, class Share>
  void add_windows(int rank, const T* positions, Batch batch, const Share& share, Value* object);

  Cluster& cluster_;
  spec::Scene scene_;
  std::int64_t batch_max_;
  Scratch<Complex<T>> waves_;
  Scratch<PlacedWindow<T>> windows_;
  /// Costs of several pixels each, and their partial sums. add_up() sums from one array to the
  /// other in turns.
  Scratch<double> costs_;
  Scratch<double> more_costs_;
  /// One bit for each position near each tile of the object.
  Scratch<std::uint32_t> near_;
  /// The contributions of groups of positions to the probe.
  Scratch<Complex<T>> probe_parts_;
  Scratch<T> weight_parts_;
};

extern template class FusedPasses<float>;
extern template class FusedPasses<double>;

}  // namespace rankcheck::gpu
