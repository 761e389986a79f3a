#pragma once

#include <cstdint>

#include "gpu/device/cluster.hpp"
#include "gpu/device/complex.hpp"
#include "gpu/device/launch.hpp"

/// Arithmetic on whole arrays of one rank's device.
namespace rankcheck::gpu {

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

/// Stores a sum that was made in double precision.
template <class T>
struct Round {
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

/// out = base + factor * added; out may be one of them.
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

/// Values that one thread sums.
inline constexpr std::int64_t sum_chunk = 256;

/// A chunk's part of sum of Re(conj(a) (b - c)); c may be null.
template <class T>
struct InnerProductChunk {
  const Complex<T>* a;
  const Complex<T>* b;
  const Complex<T>* c;
  std::int64_t count;
  double* parts;

  RANKCHECK_HD void operator()(std::int64_t chunk) const {
    double sum = 0;
    const std::int64_t end = (chunk + 1) * sum_chunk < count ? (chunk + 1) * sum_chunk : count;
    for (std::int64_t i = chunk * sum_chunk; i < end; ++i) {
      const Complex<T> right = c == nullptr ? b[i] : b[i] - c[i];
      sum += static_cast<double>(a[i].re) * static_cast<double>(right.re) +
             static_cast<double>(a[i].im) * static_cast<double>(right.im);
    }
    parts[chunk] = sum;
  }
};

/// Adds `count` numbers to *total, in order.
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

/// The sum of Re(conj(a) (b - c)), or without c where it is null, in double precision and in an
/// order that depends on the count alone.
template <class T>
[[nodiscard]] double inner_product(Cluster& cluster,
                                   int rank,
                                   std::int64_t count,
                                   const Complex<T>* a,
                                   const Complex<T>* b,
                                   const Complex<T>* c = nullptr) {
  const std::int64_t chunks = (count + sum_chunk - 1) / sum_chunk;
  auto* parts = cluster.allocate_array<double>(rank, chunks + 1);
  double* const total = parts + chunks;
  launch(cluster, rank, chunks, InnerProductChunk<T>{a, b, c, count, parts});
  fill(cluster, rank, 1, total, 0.0);
  launch(cluster, rank, 1, AddSum{parts, total, chunks});
  return cluster.read_value(rank, total);
}

/// The largest of some numbers that are not negative; 0 where there is none.
template <class T>
struct FindLargest {
  const T* values;
  T* largest;
  std::int64_t count;

  RANKCHECK_HD void operator()(std::int64_t chunk) const {
    T most = 0;
    const std::int64_t end = (chunk + 1) * sum_chunk < count ? (chunk + 1) * sum_chunk : count;
    for (std::int64_t i = chunk * sum_chunk; i < end; ++i) {
      most = values[i] > most ? values[i] : most;
    }
    largest[chunk] = most;
  }
};

/// Writes the largest of `count` numbers, none of them negative, to *largest.
template <class T>
void find_largest(Cluster& cluster, int rank, std::int64_t count, const T* values, T* largest) {
  while (count > sum_chunk) {
    const std::int64_t chunks = (count + sum_chunk - 1) / sum_chunk;
    auto* const of_chunks = cluster.allocate_array<T>(rank, chunks);
    launch(cluster, rank, chunks, FindLargest<T>{values, of_chunks, count});
    values = of_chunks;
    count = chunks;
  }
  launch(cluster, rank, 1, FindLargest<T>{values, largest, count});
}

}  // namespace rankcheck::gpu
