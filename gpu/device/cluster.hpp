#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>

#include "reference/spec/call.hpp"

/// The seam between operators and devices. Operators are written once, as loops over the ranks of
/// this process that launch kernels, transform and communicate; one source serves one process with
/// many devices and many processes with one.
namespace rankcheck::gpu {

/// The fault of a device, or of how one was used: a race, a broken guard, a failed call.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One rank's memory in a collective; null where it has no such buffer. In place, both are what
/// the operation's contract says.
struct DeviceBuffers {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
};

/// A batch of square two-dimensional transforms, one behind the other, without any scaling.
struct Transform {
  /// f32 or f64: the components of complex numbers.
  spec::Type precision = spec::Type::f32;
  int width = 0;
  std::int64_t batch = 0;
  /// The sign of the exponent is plus.
  bool inverse = false;
};

/// The ranks of one call and their devices. Work that is given to a rank's device is done in order;
/// what two ranks do is ordered by collectives alone.
class Cluster {
 public:
  virtual ~Cluster() = default;

  /// Positions of a batch, at most, for operators that take their positions in batches; 0: as suits
  /// the device. Operators look at it when they begin.
  std::int64_t batch_max = 0;

  /// Ranks of the whole group.
  [[nodiscard]] virtual int ranks() const = 0;
  /// The ranks of this process, ascending.
  [[nodiscard]] virtual std::span<const int> local() const = 0;

  /// Where kernels of the rank are launched, its device being made the current one: a CUDA stream;
  /// null where they are loops of this program.
  virtual void* queue(int /*rank*/) { return nullptr; }

  /// Memory of a rank's device that lasts as long as the cluster; its content is undefined.
  virtual std::byte* allocate(int rank, std::int64_t bytes) = 0;

  /// Copies from a rank's device to this program, once all work given to the device is done.
  virtual void read(int rank, const void* from, void* to, std::int64_t bytes) = 0;
  /// Copies from this program to a rank's device; `from` may change as soon as it returns.
  virtual void write(int rank, const void* from, void* to, std::int64_t bytes) = 0;

  /// Transforms complex numbers; `in` and `out` may be the same.
  virtual void transform(int rank, const Transform& transform, const void* in, void* out) = 0;

  /// Makes a collective call on buffers of the local ranks, in the order of local(). All ranks
  /// make the same calls in the same order. `in_place` as in the contract of the operation.
  virtual void collective(std::string_view operation,
                          const spec::Call& call,
                          bool in_place,
                          std::span<const DeviceBuffers> buffers) = 0;

  template <class T>
  [[nodiscard]] T read_value(int rank, const T* from) {
    T value;
    read(rank, from, &value, static_cast<std::int64_t>(sizeof(T)));
    return value;
  }

  template <class T>
  T* allocate_array(int rank, std::int64_t count) {
    return reinterpret_cast<T*>(allocate(rank, count * static_cast<std::int64_t>(sizeof(T))));
  }
};

/// Sums arrays of the local ranks over all ranks, in place; every rank ends with the same bits.
void sum_over_ranks(Cluster& cluster,
                    spec::Type type,
                    std::int64_t count,
                    std::span<std::byte* const> arrays);

}  // namespace rankcheck::gpu
