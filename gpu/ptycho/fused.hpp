#pragma once

#include <algorithm>
#include <cstdint>

#include "reference/spec/scene.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/scratch.hpp"
#include "gpu/ptycho/pixel.hpp"
#include "gpu/ptycho/slices.hpp"
#include "gpu/ptycho/strips.hpp"

/// The hot path through one slice in few passes over large batches, as devices want it: what
/// crosses memory once is used for all that it is good for. Every sum has an order that depends on
/// sizes and positions alone.
namespace rankcheck::gpu {

template <class T>
class Fused {
 public:
  /// `scene` has one slice. Batches have at most so many positions; 0: as the cluster says.
  Fused(Cluster& cluster, const spec::Scene& scene, std::int64_t batch_max = 0);

  /// Calls body(Batch) for one batch after another; a batch's waves fill a device's caches many
  /// times, and leave most of its memory free.
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

  /// Writes the waves that leave the object, and zeros around their windows; the patch of a pixel
  /// is made once for all modes.
  void illuminate(int rank, const Exposure<T>& exposure, Batch batch, Complex<T>* waves);

  /// Reads the far waves once, `scale` times what counts: adds the frames' cost to *cost and
  /// writes their far-plane gradient times `factor_scale`, which may be where they were.
  void compare(int rank,
               Noise noise,
               const Exposure<T>& exposure,
               Batch batch,
               T scale,
               T factor_scale,
               const Complex<T>* waves,
               Complex<T>* gradient,
               double* cost);

  /// Adds conj(probe) times the waves to the object. A thread has a few pixels of the object, below
  /// each other, and goes through the positions near them, which are marked first, in their order:
  /// no two write the same place.
  void add_to_object(int rank,
                     const Exposure<T>& exposure,
                     Batch batch,
                     const Complex<T>* waves,
                     Complex<T>* object);

  /// Adds conj(object) times the waves to a shared probe; writes it for each position's own one.
  void add_to_probe(int rank,
                    const Exposure<T>& exposure,
                    Batch batch,
                    const Complex<T>* waves,
                    Complex<T>* probe);

  /// Adds what the probes' light gives to the weights of the object's pixels, see
  /// object_preconditioner; as add_to_object() does.
  void add_light(int rank, const Exposure<T>& exposure, Batch batch, T* object_weight);

  /// Adds the squares of the object under the windows to the weights of the probe's pixels, see
  /// probe_preconditioner.
  void add_magnitudes(int rank, const Exposure<T>& exposure, Batch batch, T* probe_weight);

 private:
  [[nodiscard]] std::int64_t wave_size() const {
    return std::int64_t{scene_.modes} * scene_.detector * scene_.detector;
  }
  /// The windows of a batch of these positions.
  [[nodiscard]] const PlacedWindow<T>* place(int rank, const T* positions, Batch batch);
  template <class Number>
  [[nodiscard]] ObjectColumns<T, Number> columns(const Complex<T>* object) const;
  void add_up(int rank, std::int64_t count, double* cost);
  /// Adds what the windows of a batch give to an array of the object's pixels.
  template <class Value, class Share>
  void add_windows(int rank, const T* positions, Batch batch, const Share& share, Value* object);

  Cluster& cluster_;
  spec::Scene scene_;
  std::int64_t batch_max_;
  Scratch<Complex<T>> waves_;
  Scratch<PlacedWindow<T>> windows_;
  /// Of several pixels each, and what they add up to, level by level.
  Scratch<double> costs_;
  Scratch<double> more_costs_;
  /// Bits: which positions are near each tile of the object.
  Scratch<std::uint32_t> near_;
  /// What groups of positions add to the probe.
  Scratch<Complex<T>> probe_parts_;
  Scratch<T> weight_parts_;
};

extern template class Fused<float>;
extern template class Fused<double>;

}  // namespace rankcheck::gpu
