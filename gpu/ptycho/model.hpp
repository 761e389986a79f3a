#pragma once

#include <cstdint>
#include <map>

#include "reference/spec/scene.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/ptycho/pixel.hpp"

namespace rankcheck::gpu {

/// One rank's share of a problem, in its device's memory.
template <class T>
struct Exposure {
  const Complex<T>* object = nullptr;
  /// Of all positions, or where the probe varies, of each.
  const Complex<T>* probe = nullptr;
  const T* positions = nullptr;
  const T* frames = nullptr;
  /// Null where every pixel is measured.
  const T* mask = nullptr;
  /// Positions of this rank.
  std::int64_t count = 0;
};

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
};

/// The chain from object and probe to the cost and back, for batches of frames that fit a
/// processor's cache. Keeps its scratch memory on the devices of the cluster.
template <class T>
class Model {
 public:
  Model(Cluster& cluster, const spec::Scene& scene, Noise noise)
      : cluster_(cluster), scene_(scene), noise_(noise) {}

  /// Adds a rank's part to what `out` points to. A varying probe's gradient is written, not added.
  void add(int rank, const Exposure<T>& exposure, const Gradients<T>& out);

 private:
  struct Scratch {
    Complex<T>* patches = nullptr;
    Complex<T>* waves = nullptr;
    /// The object's share of every window, with a border of zeros.
    Complex<T>* shares = nullptr;
    /// The light of a window, likewise.
    T* light = nullptr;
    T* costs = nullptr;
    double* row_costs = nullptr;
  };
  /// Some of the frames of a rank.
  struct Batch {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  [[nodiscard]] std::int64_t batch_size() const;
  Scratch& scratch(int rank);
  void forward(int rank, const Exposure<T>& exposure, Batch batch);
  void compare(int rank, const Exposure<T>& exposure, Batch batch, const Gradients<T>& out);
  void weigh(int rank, const Exposure<T>& exposure, Batch batch, const Gradients<T>& out);
  void backward(int rank, const Exposure<T>& exposure, Batch batch, const Gradients<T>& out);

  Cluster& cluster_;
  spec::Scene scene_;
  Noise noise_;
  std::map<int, Scratch> scratch_;
};

extern template class Model<float>;
extern template class Model<double>;

}  // namespace rankcheck::gpu
