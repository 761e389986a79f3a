#include "cases/audit/wrong_cluster.hpp"

#include <cstring>

#include "reference/numerics/fold.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::audit {

Values load(spec::Type type, bool is_complex, const void* from, std::size_t count) {
  const auto bytes = spec::to_size(spec::info(type).bytes);
  const auto* at = static_cast<const std::byte*>(from);
  Values values(count);
  for (auto& value : values) {
    value = numerics::to_double(type, at);
    at += bytes;
    if (!is_complex) continue;
    value.imag(numerics::to_double(type, at));
    at += bytes;
  }
  return values;
}

void store(spec::Type type, bool is_complex, const Values& values, void* to) {
  const auto bytes = spec::to_size(spec::info(type).bytes);
  auto* at = static_cast<std::byte*>(to);
  for (const auto& value : values) {
    numerics::from_double(type, value.real(), at);
    at += bytes;
    if (!is_complex) continue;
    numerics::from_double(type, value.imag(), at);
    at += bytes;
  }
}

Values rounded_to(spec::Type type, const Values& values) {
  const auto bytes = spec::to_size(spec::info(type).bytes);
  std::vector<std::byte> stored(2 * bytes * values.size());
  store(type, true, values, stored.data());
  return load(type, true, stored.data(), values.size());
}

void CollectiveCall::keep() const {
  for (const gpu::DeviceBuffers& each : buffers) {
    std::memmove(each.recv, each.send, spec::to_size(call.count * spec::info(call.type).bytes));
  }
}

void CollectiveCall::repeat() const {
  std::vector<gpu::DeviceBuffers> results;
  for (const gpu::DeviceBuffers& each : buffers) {
    results.push_back({.send = each.recv, .recv = each.recv});
  }
  devices.collective(operation, call, true, results);
}

void CollectiveCall::scale_given(int rank, double factor) const {
  std::byte* const at = buffers[spec::to_size(rank)].send;
  Values values = load(call.type, false, at, spec::to_size(call.count));
  for (auto& value : values) value *= factor;
  store(call.type, false, values, at);
}

void CollectiveCall::scale(double factor) const {
  for (const gpu::DeviceBuffers& each : buffers) {
    Values values = load(call.type, false, each.recv, spec::to_size(call.count));
    for (auto& value : values) value *= factor;
    store(call.type, false, values, each.recv);
  }
}

void CollectiveCall::fill(double value) const {
  const Values values(spec::to_size(call.count), value);
  for (const gpu::DeviceBuffers& each : buffers) store(call.type, false, values, each.recv);
}

void TransformCall::scale(double factor) const {
  Values values = load(what.precision, true, out, size());
  for (auto& value : values) value *= factor;
  store(what.precision, true, values, out);
}

void WrongCluster::read(int rank, const void* from, void* to, std::int64_t bytes) {
  devices_.read(rank, from, to, bytes);
  if (on_read) on_read(to, bytes);
}

void WrongCluster::transform(int rank, const gpu::Transform& transform, const void* in, void* out) {
  TransformCall call{devices_, rank, transform, in, out};
  if (on_transform) return on_transform(call);
  call.make();
}

void WrongCluster::collective(std::string_view operation,
                              const spec::Call& call,
                              bool in_place,
                              std::span<const gpu::DeviceBuffers> buffers) {
  CollectiveCall made{devices_, operation, call, in_place, buffers, collectives_++};
  if (on_collective) return on_collective(made);
  made.make();
}

}  // namespace rankcheck::cases::audit
