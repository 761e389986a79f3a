#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/to_size.hpp"

/// The seam between operators and devices. An operator is written once, as loops over the local
/// ranks that launch kernels, transform and communicate. The same source serves one process with
/// many devices and many processes with one device each.
namespace rankcheck::gpu {

/// A fault of a device or of its use: for example a race, a broken guard zone or a failed call.
class DeviceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One rank's memory in a collective. A pointer is null if the rank has no such buffer. In place,
/// the two pointers are related as the operation's contract says.
struct DeviceBuffers {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
};

/// A batch of square two-dimensional transforms of consecutive frames, without any scaling.
struct Transform {
  /// The precision of the components of the complex numbers: f32 or f64.
  spec::Type precision = spec::Type::f32;
  int width = 0;
  std::int64_t batch = 0;
  /// If true, the sign of the exponent is plus.
  bool inverse = false;
};

/// The ranks of one call and their devices. The work of one rank's device is done in order. Only
/// collectives order the work of different ranks.
class Cluster {
 public:
  virtual ~Cluster() = default;

  /// The largest number of positions in a batch, for operators that process positions in batches. 0
  /// lets the operator choose a number that suits the device. Operators read it when they begin.
  std::int64_t batch_max = 0;

  /// The number of ranks in the whole group.
  [[nodiscard]] virtual int ranks() const = 0;
  /// The ranks of this process, in ascending order.
  [[nodiscard]] virtual std::span<const int> local() const = 0;

  /// Returns the CUDA stream on which to launch the rank's kernels, and makes the rank's device the
  /// current one. Returns null if kernels are loops of this program.
  virtual void* queue(int /*rank*/) { return nullptr; }

  /// Allocates memory of a rank's device. It belongs to the cluster, which keeps it at least until
  /// the end of the call; its content is undefined.
  virtual std::byte* allocate(int rank, std::int64_t bytes) = 0;

  /// Copies from a rank's device to this program, after waiting for all work given to the device.
  virtual void read(int rank, const void* from, void* to, std::int64_t bytes) = 0;
  /// Copies from this program to a rank's device. The caller may change `from` after the return.
  virtual void write(int rank, const void* from, void* to, std::int64_t bytes) = 0;

  /// Transforms complex numbers. `in` and `out` may be the same array.
  virtual void transform(int rank, const Transform& transform, const void* in, void* out) = 0;

  /// Makes a collective call on the buffers of the local ranks, in the order of local(). All ranks
  /// must make the same calls in the same order. The operation's contract explains `in_place`.
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
  /// Reads `count` values from a rank's device, as read() does.
  template <class T>
  [[nodiscard]] std::vector<T> read_array(int rank, const T* from, std::int64_t count) {
    std::vector<T> values(spec::to_size(count));
    read(rank, from, values.data(), count * static_cast<std::int64_t>(sizeof(T)));
    return values;
  }
  /// Writes values to a rank's device, as write() does.
  template <class T>
  void write_array(int rank, const std::vector<T>& values, T* to) {
    write(rank, values.data(), to, static_cast<std::int64_t>(values.size() * sizeof(T)));
  }
};

/// Sums arrays of the local ranks over all ranks, in place. Every rank gets the same bits.
void sum_over_ranks(Cluster& cluster,
                    spec::Type type,
                    std::int64_t count,
                    std::span<std::byte* const> arrays);

}  // namespace rankcheck::gpu
