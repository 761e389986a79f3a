#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

#include "reference/spec/scene.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/ptycho/spectrum.hpp"

namespace rankcheck::gpu {

/// One rank's share of a problem, in its device's memory.
template <class T>
struct Exposure {
  const Complex<T>* object = nullptr;
  /// Of all positions, or where the probe varies, of each.
  const Complex<T>* probe = nullptr;
  const T* positions = nullptr;
  /// Null where nothing is compared.
  const T* frames = nullptr;
  /// Null where every pixel is measured.
  const T* mask = nullptr;
  /// Positions of this rank.
  std::int64_t count = 0;
};

/// Some of the positions of a rank.
struct Batch {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Square arrays one behind the other, and where in each of them the window begins, in both
/// directions.
struct Frames {
  std::int64_t width = 0;
  std::int64_t margin = 0;

  /// The place of row p of the window of an array.
  [[nodiscard]] RANKCHECK_HD std::int64_t row(std::int64_t array, std::int64_t p) const {
    return (array * width + margin + p) * width + margin;
  }
};

/// The way of the waves through the slices of an object, and of their gradients back, for batches
/// of positions. Keeps its scratch memory on the devices of the cluster.
template <class T>
class Slices {
 public:
  Slices(Cluster& cluster, const spec::Scene& scene)
      : cluster_(cluster), scene_(scene), batch_max_(batch_in_cache(scene)) {
    if (cluster.batch_max > 0) batch_max_ = std::min(batch_max_, cluster.batch_max);
  }

  /// Positions of a batch, at most: their waves stay in a processor's second-level cache. The
  /// cluster may ask for fewer.
  [[nodiscard]] std::int64_t batch_max() const { return batch_max_; }
  /// Calls body(Batch) for one batch after another of so many positions.
  template <class Body>
  void for_each_batch(std::int64_t count, const Body& body) const {
    for (std::int64_t first = 0; first < count; first += batch_max_) {
      body(Batch{.first = first, .count = std::min(batch_max_, count - first)});
    }
  }

  /// Writes what leaves the last slice: complex [count, modes, detector, detector]; null where it
  /// is not wanted. Without a probe nothing is lit: backward() then gives the probe's gradient
  /// only.
  void forward(int rank, const Exposure<T>& exposure, Batch batch, Complex<T>* waves);

  /// Takes the gradients by these waves, whose forward() was this rank's last one, to those by
  /// object and probe, and adds them; a varying probe's are written. Either may be null.
  void backward(int rank,
                const Exposure<T>& exposure,
                Batch batch,
                const Complex<T>* waves,
                Complex<T>* object,
                Complex<T>* probe);

  /// Adds what the probes' light gives to the weights of the object's pixels, and the squares of
  /// the first slice, of which forward() was this rank's last one, to those of the probe's. Either
  /// may be null.
  void weigh(int rank, const Exposure<T>& exposure, Batch batch, T* object_weight, T* probe_weight);

 private:
  struct Scratch {
    /// The windows of each slice of the object.
    Complex<T>* patches = nullptr;
    /// What reaches each slice but the first.
    Complex<T>* incident = nullptr;
    /// The gradients on their way back to the slice before.
    Complex<T>* returned = nullptr;
    /// What one slice's windows add to the object, with a border of zeros.
    Complex<T>* shares = nullptr;
    /// The light of a window, likewise; null until weigh().
    T* light = nullptr;
    std::optional<FreeSpaceTravel<T>> space = {};
  };
  /// Waves that reach a slice.
  struct Incident {
    const Complex<T>* waves;
    /// One for all positions.
    bool shared;
  };

  [[nodiscard]] static std::int64_t batch_in_cache(const spec::Scene& scene);
  Scratch& scratch(int rank);
  [[nodiscard]] std::int64_t pixels() const { return std::int64_t{scene_.window} * scene_.window; }
  [[nodiscard]] Complex<T>* patches(const Scratch& memory, int slice) const;
  /// What reaches the slice behind this one.
  [[nodiscard]] Complex<T>* behind(const Scratch& memory, int slice) const;
  [[nodiscard]] Incident incident(const Scratch& memory,
                                  const Exposure<T>& exposure,
                                  Batch batch,
                                  int slice) const;
  void extract(int rank, const Exposure<T>& exposure, Batch batch, int slice);
  void add_share(int rank,
                 const Exposure<T>& exposure,
                 Batch batch,
                 int slice,
                 Frames frames,
                 const Complex<T>* waves,
                 Complex<T>* object);
  void add_to_probe(
      int rank, Batch batch, Frames frames, const Complex<T>* waves, Complex<T>* probe);

  Cluster& cluster_;
  spec::Scene scene_;
  std::int64_t batch_max_;
  std::map<int, Scratch> scratch_;
};

extern template class Slices<float>;
extern template class Slices<double>;

}  // namespace rankcheck::gpu
