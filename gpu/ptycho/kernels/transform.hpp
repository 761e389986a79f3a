#pragma once

#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/ptycho/kernels/arrays.hpp"

namespace rankcheck::gpu {

template <class T>
struct Scale {
  T factor;
  Complex<T>* values;

  RANKCHECK_HD void operator()(std::int64_t i) const { values[i] = factor * values[i]; }
};

/// Transforms `batch` square frames without scaling. `in` and `out` may be the same array.
template <class T>
void transform_frames(Cluster& cluster,
                      int rank,
                      int width,
                      std::int64_t batch,
                      bool inverse,
                      const Complex<T>* in,
                      Complex<T>* out) {
  cluster.transform(
      rank,
      {.precision = component_type<T>, .width = width, .batch = batch, .inverse = inverse},
      in,
      out);
}

/// Transforms frames with a scale that makes both directions unitary.
template <class T>
void transform_unitary(Cluster& cluster,
                       int rank,
                       int width,
                       std::int64_t batch,
                       bool inverse,
                       const Complex<T>* in,
                       Complex<T>* out) {
  transform_frames(cluster, rank, width, batch, inverse, in, out);
  launch(cluster, rank, batch * width * width, Scale<T>{1 / static_cast<T>(width), out});
}

}  // namespace rankcheck::gpu
