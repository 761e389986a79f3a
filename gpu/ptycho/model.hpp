#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "reference/spec/scene.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/ptycho/fused.hpp"
#include "gpu/ptycho/pixel.hpp"
#include "gpu/ptycho/slices.hpp"

namespace rankcheck::gpu {

/// What a rank's frames add to the cost and its gradients: the derivatives by the conjugates, so
/// that the cost changes by 2 Re<gradient, change>.
template <class T>
struct Gradients {
  /// Null where it is not wanted.
  Complex<T>* object = nullptr;
  /// Null where it is not wanted.
  Complex<T>* probe = nullptr;
  /// A single number.
  double* cost = nullptr;
  /// What the steps of the object and of a shared probe are divided by, see object_preconditioner
  /// and probe_preconditioner; null where it is not wanted.
  T* object_weight = nullptr;
  T* probe_weight = nullptr;
  /// The window of each position, [window, window]: what comes back there to mode 0 from the far
  /// plane. Written, not added; null where it is not wanted.
  Complex<T>* returned = nullptr;
};

/// How frames go through the model.
enum class Passes : std::uint8_t {
  /// Many simple passes over batches that stay in a processor's cache.
  batched,
  /// Few passes over large batches, see Fused. One slice.
  fused,
};

/// What suits a scene on the devices of a cluster.
[[nodiscard]] Passes passes_for(Cluster& cluster, const spec::Scene& scene);

/// The chain from object and probe to the cost and back. Keeps its scratch memory on the devices of
/// the cluster.
template <class T>
class Model {
 public:
  Model(Cluster& cluster, const spec::Scene& scene, Noise noise, Passes passes)
      : cluster_(cluster), scene_(scene), noise_(noise), slices_(cluster, scene) {
    if (passes == Passes::fused) fused_.emplace(cluster, scene);
  }

  /// Adds a rank's part to what `out` points to. A varying probe's gradient is written, not added.
  void add(int rank, const Exposure<T>& exposure, const Gradients<T>& out);

  /// As add(), of waves that leave the object, [count, modes, detector, detector], instead of those
  /// that come back; no cost. One slice.
  void add_exit_waves(int rank,
                      const Exposure<T>& exposure,
                      const Complex<T>* exit_waves,
                      const Gradients<T>& out);
  /// Writes the waves of object and probe. One slice.
  void make_exit_waves(int rank, const Exposure<T>& exposure, Complex<T>* exit_waves);
  /// Moves exit waves w by beta (p - m): m are the waves of object and probe, and p what comes back
  /// of 2 m - w, as the noise has it. Adds to *cost what the frames of 2 m - w cost. One slice.
  void move_exit_waves(
      int rank, const Exposure<T>& exposure, T beta, Complex<T>* exit_waves, double* cost);

 private:
  struct Scratch {
    Complex<T>* waves = nullptr;
    /// The modelled intensities, then what the waves are multiplied with.
    T* factors = nullptr;
    T* costs = nullptr;
    double* row_costs = nullptr;
    /// The mask where there is none.
    T* no_mask = nullptr;
  };

  Scratch& scratch(int rank);
  [[nodiscard]] std::int64_t frame() const { return spec::values(scene_, spec::Array::frames); }
  [[nodiscard]] std::int64_t wave_size() const { return spec::values(scene_, spec::Array::waves); }
  /// Calls body(Batch) for one batch after another of so many positions.
  template <class Body>
  void for_each_batch(std::int64_t count, const Body& body);
  /// Room for a batch's waves.
  Complex<T>* waves_of(int rank, Batch batch);
  /// Writes the waves of object and probe that leave the object; null where they are not wanted.
  void illuminate(int rank, const Exposure<T>& exposure, Batch batch, Complex<T>* waves);
  /// In place.
  void transform(int rank, Batch batch, bool inverse, Complex<T>* waves);
  /// Turns transformed waves into what the inverse transform needs to be unitary; adds their cost.
  void compare(int rank, const Exposure<T>& exposure, Batch batch, Complex<T>* waves, double* cost);
  void compare_batched(
      int rank, const Exposure<T>& exposure, Batch batch, Complex<T>* waves, double* cost);
  void keep_windows(int rank, Batch batch, const Complex<T>* waves, Complex<T>* returned);
  /// Adds what waves at the object give, and the weights. Unless passes are fused, illuminate() was
  /// this rank's last one for the same batch.
  void gather(int rank,
              const Exposure<T>& exposure,
              Batch batch,
              const Complex<T>* waves,
              const Gradients<T>& out);

  Cluster& cluster_;
  spec::Scene scene_;
  Noise noise_;
  Slices<T> slices_;
  std::map<int, Scratch> scratch_;
  std::optional<Fused<T>> fused_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace rankcheck::gpu
