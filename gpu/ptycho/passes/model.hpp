#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "reference/spec/scene.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/ptycho/kernels/pixel.hpp"
#include "gpu/ptycho/passes/batched_passes.hpp"
#include "gpu/ptycho/passes/fused_passes.hpp"

namespace rankcheck::gpu {

/// The arrays for the contributions of a rank's frames to the cost and its gradients. Gradients are
/// derivatives with respect to the conjugates, so that the cost changes by 2 Re<gradient, change>.
template <class T>
struct Gradients {
  /// Null if not wanted.
  Complex<T>* object = nullptr;
  /// Null if not wanted.
  Complex<T>* probe = nullptr;
  /// A single number.
  double* cost = nullptr;
  /// The divisors of the steps of the object and of a shared probe, see object_preconditioner and
  /// probe_preconditioner; null if not wanted.
  T* object_weight = nullptr;
  T* probe_weight = nullptr;
  /// The window of each position, [window, window]: mode 0 of the waves that return there from the
  /// far plane. They are written, not added; null if not wanted.
  Complex<T>* returned = nullptr;
};

/// The ways to compute the model.
enum class Passes : std::uint8_t {
  /// Many simple passes over batches that stay in a processor's cache.
  batched,
  /// Few passes over large batches, see FusedPasses. Supports one slice only.
  fused,
};

/// The way that suits a scene on the devices of a cluster.
[[nodiscard]] Passes passes_for(Cluster& cluster, const spec::Scene& scene);

/// Computes the chain from object and probe to the cost and back. Keeps its scratch memory on the
/// devices of the cluster.
template <class T>
class Model {
 public:
  Model(Cluster& cluster, const spec::Scene& scene, Noise noise, Passes passes)
      : cluster_(cluster), scene_(scene), noise_(noise), batched_(cluster, scene) {
    if (passes == Passes::fused) fused_.emplace(cluster, scene);
  }

  /// Adds a rank's contributions to the arrays of `out`. The gradient of a varying probe is
  /// written, not added.
  void add(int rank, const ScanShare<T>& scan, const Gradients<T>& out);

  /// Like add(), but sums `exit_waves`, [count, modes, detector, detector], instead of the waves
  /// that return from the far plane. Computes no cost. Supports one slice only.
  void add_exit_waves(int rank,
                      const ScanShare<T>& scan,
                      const Complex<T>* exit_waves,
                      const Gradients<T>& out);
  /// Writes the waves that object and probe make. Supports one slice only.
  void make_exit_waves(int rank, const ScanShare<T>& scan, Complex<T>* exit_waves);
  /// Moves exit waves w by beta (p - m). m are the waves of object and probe; p are the waves that
  /// return for 2 m - w, as the noise model changes them. Adds the cost of 2 m - w to *cost.
  /// Supports one slice only.
  void move_exit_waves(
      int rank, const ScanShare<T>& scan, T beta, Complex<T>* exit_waves, double* cost);

 private:
  struct Scratch {
    Complex<T>* waves = nullptr;
    /// First the modelled intensities, then the factors of the waves.
    T* factors = nullptr;
    T* costs = nullptr;
    double* row_costs = nullptr;
    /// The mask to use if the scan has none.
    T* no_mask = nullptr;
  };

  Scratch& scratch(int rank);
  [[nodiscard]] std::int64_t frame() const { return spec::values(scene_, spec::Array::frames); }
  [[nodiscard]] std::int64_t wave_size() const { return spec::values(scene_, spec::Array::waves); }
  /// Calls body(Batch) for one batch after another of `count` positions.
  template <class Body>
  void for_each_batch(std::int64_t count, const Body& body);
  /// Room for a batch's waves.
  Complex<T>* waves_of(int rank, Batch batch);
  /// Writes the waves of object and probe that leave the object. With null, only prepares gather().
  void illuminate(int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves);
  /// Transforms a batch's waves in place, without scaling.
  void transform(int rank, Batch batch, bool inverse, Complex<T>* waves);
  /// Replaces transformed waves by the gradient, scaled so that the inverse transform becomes
  /// unitary. Adds their cost to *cost.
  void compare(int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves, double* cost);
  void compare_batched(
      int rank, const ScanShare<T>& scan, Batch batch, Complex<T>* waves, double* cost);
  void keep_windows(int rank, Batch batch, const Complex<T>* waves, Complex<T>* returned);
  /// Adds the contributions of waves at the object, and the weights. Unless passes are fused, this
  /// rank's last illuminate() must have been for the same batch.
  void gather(int rank,
              const ScanShare<T>& scan,
              Batch batch,
              const Complex<T>* waves,
              const Gradients<T>& out);

  Cluster& cluster_;
  spec::Scene scene_;
  Noise noise_;
  BatchedPasses<T> batched_;
  std::map<int, Scratch> scratch_;
  std::optional<FusedPasses<T>> fused_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace rankcheck::gpu
