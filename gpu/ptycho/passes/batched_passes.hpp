#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "reference/spec/scene.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/ptycho/kernels/spectrum.hpp"

namespace rankcheck::gpu {

/// One rank's share of a problem, in its device's memory.
template <class T>
struct ScanShare {
  const Complex<T>* object = nullptr;
  /// One probe for all positions, or one for each position if the probe varies.
  const Complex<T>* probe = nullptr;
  const T* positions = nullptr;
  /// Null if nothing is compared.
  const T* frames = nullptr;
  /// Null if every pixel is measured.
  const T* mask = nullptr;
  /// The number of positions of this rank.
  std::int64_t count = 0;
};

/// A run of a rank's positions.
struct Batch {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The layout of consecutive square arrays of `width` pixels along each side. In each array, the
/// window begins `margin` pixels from the edge, in both directions.
struct FrameLayout {
  std::int64_t width = 0;
  std::int64_t margin = 0;

  /// The index of the first pixel of row p of the window of an array.
  [[nodiscard]] RANKCHECK_HD std::int64_t row(std::int64_t array, std::int64_t p) const {
    return (array * width + margin + p) * width + margin;
  }
};

/// Sends waves through the slices of an object, and their gradients back, for batches of positions.
/// Keeps its scratch memory on the devices of the cluster.
template <class T>
class BatchedPasses {
 public:
  BatchedPasses(Cluster& cluster, const spec::Scene& scene)
      : cluster_(cluster), scene_(scene), batch_max_(batch_in_cache(scene)) {
    if (cluster.batch_max > 0) batch_max_ = std::min(batch_max_, cluster.batch_max);
  }

  /// The largest number of positions in a batch: their waves stay in a processor's second-level
  /// cache. The cluster may limit it further.
  [[nodiscard]] std::int64_t batch_max() const { return batch_max_; }
  /// Calls body(Batch) for one batch after another of `count` positions.
  template <class Body>
  void for_each_batch(std::int64_t count, const Body& body) const {
    for (std::int64_t first = 0; first < count; first += batch_max_) {
      body(Batch{.first = first, .count = std::min(batch_max_, count - first)});
    }
  }

  /// Writes the waves that leave the last slice: complex [count, modes, detector, detector]; null
  /// if they are not wanted. Without a probe, no waves are computed; backward() then gives only the
  /// probe's gradient.
  void forward(int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves);

  /// Adds the gradients with respect to object and probe, given the gradients `waves` with respect
  /// to the waves that leave the last slice. This rank's last forward() must have been for the same
  /// batch. A varying probe's gradient is written, not added. `object` and `probe` may be null.
  void backward(int rank,
                const ScanShare<T>& scan,
                Batch batch,
                const Complex<T>* waves,
                Complex<T>* object,
                Complex<T>* probe);

  /// Adds the probes' light to the weights of the object's pixels, and the squares of the first
  /// slice to the weights of the probe's pixels. This rank's last forward() must have been for the
  /// same batch. Either array may be null.
  void weigh(int rank, const ScanShare<T>& scan, Batch batch, T* object_weight, T* probe_weight);

 private:
  struct Scratch {
    /// The windows of each slice of the object.
    Complex<T>* patches = nullptr;
    /// The waves that reach each slice except the first.
    Complex<T>* incident = nullptr;
    /// The gradients on their way back to the slice before.
    Complex<T>* returned = nullptr;
    /// The contributions of one slice's windows to the object, with a border of zeros.
    Complex<T>* shares = nullptr;
    /// The light of a window, with a border of zeros; null until weigh().
    T* light = nullptr;
    std::optional<FreeSpaceTravel<T>> space = {};
  };
  /// The waves that reach a slice.
  struct Incident {
    const Complex<T>* waves;
    /// True if one set of waves serves all positions.
    bool shared;
  };

  [[nodiscard]] static std::int64_t batch_in_cache(const spec::Scene& scene);
  Scratch& scratch(int rank);
  [[nodiscard]] std::int64_t pixels() const { return std::int64_t{scene_.window} * scene_.window; }
  [[nodiscard]] Complex<T>* patches(const Scratch& memory, int slice) const;
  /// The waves that reach the slice after this one.
  [[nodiscard]] Complex<T>* behind(const Scratch& memory, int slice) const;
  [[nodiscard]] Incident incident(const Scratch& memory,
                                  const ScanShare<T>& scan,
                                  Batch batch,
                                  int slice) const;
  void extract(int rank, const ScanShare<T>& scan, Batch batch, int slice);
  void add_share(int rank,
                 const ScanShare<T>& scan,
                 Batch batch,
                 int slice,
                 FrameLayout frames,
                 const Complex<T>* waves,
                 Complex<T>* object);
  void add_to_probe(
      int rank, Batch batch, FrameLayout frames, const Complex<T>* waves, Complex<T>* probe);

  Cluster& cluster_;
  spec::Scene scene_;
  std::int64_t batch_max_;
  std::map<int, Scratch> scratch_;
};

extern template class BatchedPasses<float>;
extern template class BatchedPasses<double>;

}  // namespace rankcheck::gpu
