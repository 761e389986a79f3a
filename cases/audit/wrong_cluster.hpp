#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"

/// Small mistakes in what operators ask their devices to do.
namespace rankcheck::cases::audit {

/// Values of an array, in double precision. Real numbers have imaginary part 0.
using Values = std::vector<std::complex<double>>;

/// Read or write values of one type, complex or real.
[[nodiscard]] Values load(spec::Type type, bool is_complex, const void* from, std::size_t count);
void store(spec::Type type, bool is_complex, const Values& values, void* to);
/// Returns complex values rounded to another type and back.
[[nodiscard]] Values rounded_to(spec::Type type, const Values& values);

/// A collective that an operator calls on the simulated devices.
struct CollectiveCall {
  gpu::Cluster& devices;
  std::string_view operation;
  spec::Call call;
  bool in_place;
  std::span<const gpu::DeviceBuffers> buffers;
  /// Number of collectives that the operator called before.
  int number;

  void make() const { devices.collective(operation, call, in_place, buffers); }
  /// For sums over the ranks: every rank keeps its own part.
  void keep() const;
  /// For sums over the ranks: sums the results once more.
  void repeat() const;
  /// For sums over the ranks: multiplies the part of one rank.
  void scale_given(int rank, double factor) const;
  /// For sums over the ranks: multiplies the result on all ranks.
  void scale(double factor) const;
  /// For sums over the ranks: fills the result on all ranks with one value.
  void fill(double value) const;
};

/// A transform that an operator asks for.
struct TransformCall {
  gpu::Cluster& devices;
  int rank;
  gpu::Transform what;
  const void* in;
  void* out;

  void make() const { devices.transform(rank, what, in, out); }
  [[nodiscard]] std::size_t size() const {
    return spec::to_size(what.width) * spec::to_size(what.width) * spec::to_size(what.batch);
  }
  /// Multiplies the result.
  void scale(double factor) const;
};

/// The simulated devices with replaceable parts. A function that is set here is called instead of
/// the real one. It may make the real call itself.
class WrongCluster final : public gpu::Cluster {
 public:
  explicit WrongCluster(gpu::Cluster& devices) : devices_(devices) {
    batch_max = devices.batch_max;
  }

  std::function<void(CollectiveCall& call)> on_collective;
  std::function<void(TransformCall& call)> on_transform;
  /// Changes the bytes that were read from a device, after the read.
  std::function<void(void* read, std::int64_t bytes)> on_read;

  [[nodiscard]] int ranks() const override { return devices_.ranks(); }
  [[nodiscard]] std::span<const int> local() const override { return devices_.local(); }
  std::byte* allocate(int rank, std::int64_t bytes) override {
    return devices_.allocate(rank, bytes);
  }
  void read(int rank, const void* from, void* to, std::int64_t bytes) override;
  void write(int rank, const void* from, void* to, std::int64_t bytes) override {
    devices_.write(rank, from, to, bytes);
  }
  void transform(int rank, const gpu::Transform& transform, const void* in, void* out) override;
  void collective(std::string_view operation,
                  const spec::Call& call,
                  bool in_place,
                  std::span<const gpu::DeviceBuffers> buffers) override;

 private:
  gpu::Cluster& devices_;
  int collectives_ = 0;
};

}  // namespace rankcheck::cases::audit
