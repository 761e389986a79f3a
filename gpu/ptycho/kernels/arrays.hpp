#pragma once

#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/launch/launch.hpp"
#include "gpu/device/scratch.hpp"

/// Arithmetic on whole arrays of one rank's device.
namespace rankcheck::gpu {

/// The real type of a number's components, and the number of components.
template <class Value>
inline constexpr spec::Type component_type = spec::Type::f32;
template <>
inline constexpr spec::Type component_type<double> = spec::Type::f64;
template <>
inline constexpr spec::Type component_type<Complex<double>> = spec::Type::f64;
template <class Value>
inline constexpr std::int64_t components_of = 1;
template <class T>
inline constexpr std::int64_t components_of<Complex<T>> = 2;

template <class Value>
struct Fill {
  Value* values;
  Value value;

  RANKCHECK_HD void operator()(std::int64_t i) const { values[i] = value; }
};

template <class Value>
void fill(Cluster& cluster, int rank, std::int64_t count, Value* values, Value value) {
  launch(cluster, rank, count, Fill<Value>{values, value});
}

template <class Value>
struct Copy {
  const Value* from;
  Value* to;

  RANKCHECK_HD void operator()(std::int64_t i) const { to[i] = from[i]; }
};

template <class Value>
void copy(Cluster& cluster, int rank, std::int64_t count, const Value* from, Value* to) {
  launch(cluster, rank, count, Copy<Value>{from, to});
}

/// Converts a sum in double precision to the stored type.
template <class T>
struct RoundToType {
  const double* from;
  T* to;

  RANKCHECK_HD void operator()(std::int64_t i) const { to[i] = static_cast<T>(from[i]); }
};

template <class T>
struct AddScaled {
  const Complex<T>* base;
  T factor;
  const Complex<T>* added;
  Complex<T>* out;

  RANKCHECK_HD void operator()(std::int64_t i) const { out[i] = base[i] + factor * added[i]; }
};

/// Computes out = base + factor * added. `out` may be the same array as `base` or `added`.
template <class T>
void add_scaled(Cluster& cluster,
                int rank,
                std::int64_t count,
                const Complex<T>* base,
                T factor,
                const Complex<T>* added,
                Complex<T>* out) {
  launch(cluster, rank, count, AddScaled<T>{base, factor, added, out});
}

/// The number of values that one thread sums.
inline constexpr std::int64_t sum_chunk = 256;

[[nodiscard]] inline std::int64_t chunks_of(std::int64_t count) {
  return (count + sum_chunk - 1) / sum_chunk;
}

/// Adds `count` numbers, summed in order, to *total.
struct AddSum {
  const double* parts;
  double* total;
  std::int64_t count;

  RANKCHECK_HD void operator()(std::int64_t) const {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += parts[i];
    *total += sum;
  }
};

/// The arrays of an inner product Re(conj(a) (b - c)).
template <class T>
struct InnerProduct {
  const Complex<T>* a = nullptr;
  const Complex<T>* b = nullptr;
  /// Subtracted from b, unless it is null.
  const Complex<T>* c = nullptr;
  /// 0 for values that are left out; null if all values count.
  const std::uint8_t* counted = nullptr;

  /// Returns Re(conj(a) (b - c)) of value i.
  [[nodiscard]] RANKCHECK_HD double at(std::int64_t i) const {
    if (counted != nullptr && counted[i] == 0) return 0;
    auto re = static_cast<double>(b[i].re);
    auto im = static_cast<double>(b[i].im);
    if (c != nullptr) {
      re -= static_cast<double>(c[i].re);
      im -= static_cast<double>(c[i].im);
    }
    return static_cast<double>(a[i].re) * re + static_cast<double>(a[i].im) * im;
  }
};

/// Computes the inner product of one chunk.
template <class T>
struct InnerProductChunk {
  InnerProduct<T> of;
  std::int64_t count;
  double* parts;

  RANKCHECK_HD void operator()(std::int64_t chunk) const {
    double sum = 0;
    const std::int64_t end = (chunk + 1) * sum_chunk < count ? (chunk + 1) * sum_chunk : count;
    for (std::int64_t i = chunk * sum_chunk; i < end; ++i) sum += of.at(i);
    parts[chunk] = sum;
  }
};

/// Writes an inner product to *total, in double precision. The order of the sum depends only on the
/// count.
template <class T>
void inner_product(Cluster& cluster,
                   int rank,
                   std::int64_t count,
                   const InnerProduct<T>& of,
                   Scratch<double>& scratch,
                   double* total) {
  const std::int64_t chunks = chunks_of(count);
  double* const parts = scratch.get(rank, chunks);
  launch(cluster, rank, chunks, InnerProductChunk<T>{of, count, parts});
  fill(cluster, rank, 1, total, 0.0);
  launch(cluster, rank, 1, AddSum{parts, total, chunks});
}

/// Finds the largest number of each chunk of `width` numbers. The numbers must not be negative; the
/// result is 0 for an empty chunk.
template <class T>
struct FindLargest {
  const T* values;
  T* largest;
  std::int64_t count;
  std::int64_t width;

  RANKCHECK_HD void operator()(std::int64_t chunk) const {
    T most = 0;
    const std::int64_t end = (chunk + 1) * width < count ? (chunk + 1) * width : count;
    for (std::int64_t i = chunk * width; i < end; ++i) {
      most = values[i] > most ? values[i] : most;
    }
    largest[chunk] = most;
  }
};

/// Writes the largest of `count` numbers to *largest. The numbers must not be negative.
template <class T>
void find_largest(Cluster& cluster,
                  int rank,
                  std::int64_t count,
                  const T* values,
                  Scratch<T>& scratch,
                  T* largest) {
  const std::int64_t chunks = chunks_of(count);
  T* const of_chunks = scratch.get(rank, chunks);
  launch(cluster, rank, chunks, FindLargest<T>{values, of_chunks, count, sum_chunk});
  launch(cluster, rank, 1, FindLargest<T>{of_chunks, largest, chunks, chunks});
}

}  // namespace rankcheck::gpu
