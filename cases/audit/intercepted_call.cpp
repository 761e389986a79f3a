#include "cases/audit/intercepted_call.hpp"

#include <algorithm>
#include <numeric>

#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::audit {

InterceptedCall::InterceptedCall(const OperatorCall& call, std::int64_t number)
    : call_(call), told_(call.call), number_(number), devices_(call.cluster) {
  for (int rank = 0; rank < ranks(); ++rank) {
    const gpu::DeviceBuffers& own = call.buffers[spec::to_size(rank)];
    const spec::Extents& extents =
        extents_.emplace_back(extents_of(call.contract, call.call, rank));
    const std::int64_t bytes = extents.send_size * spec::info(call.call.type).bytes;
    // Operators may make collective calls with their inputs, so the copies must lie on the devices
    // too.
    std::byte* const copy = call.cluster.allocate(rank, bytes);
    call.cluster.write(rank, own.send, copy, bytes);
    buffers_.push_back({.send = copy, .recv = own.recv});
  }
}

std::int64_t InterceptedCall::positions(int rank) const {
  return call().counts[spec::to_size(rank)];
}

std::int64_t InterceptedCall::positions() const {
  return std::accumulate(call().counts.begin(), call().counts.end(), std::int64_t{0});
}

const spec::Block& InterceptedCall::block(spec::Array array, int rank, bool is_input) const {
  const spec::Extents& extents = extents_[spec::to_size(rank)];
  const auto& blocks = is_input ? extents.send : extents.recv;
  return *std::find_if(
      blocks.begin(), blocks.end(), [&](const spec::Block& each) { return each.array == array; });
}

std::byte* InterceptedCall::place(spec::Array array, int rank, bool is_input) const {
  const gpu::DeviceBuffers& buffers = buffers_[spec::to_size(rank)];
  return (is_input ? buffers.send : buffers.recv) +
         block(array, rank, is_input).offset * spec::info(call().type).bytes;
}

Values InterceptedCall::get(spec::Array array, int rank, bool is_input) const {
  const bool is_complex = spec::info(array).is_complex;
  const std::int64_t components = block(array, rank, is_input).count;
  return load(call().type,
              is_complex,
              place(array, rank, is_input),
              spec::to_size(is_complex ? components / 2 : components));
}

void InterceptedCall::set(spec::Array array, int rank, bool is_input, const Values& values) {
  store(call().type, spec::info(array).is_complex, values, place(array, rank, is_input));
}

Values InterceptedCall::all_input(spec::Array array) const {
  if (spec::is_replicated(call().scene, array)) return input(array, 0);
  Values all;
  for (int rank = 0; rank < ranks(); ++rank) {
    const Values values = input(array, rank);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

void InterceptedCall::set_all_output(spec::Array array, const Values& values) {
  auto next = values.begin();
  for (int rank = 0; rank < ranks(); ++rank) {
    if (spec::is_replicated(call().scene, array)) next = values.begin();
    const auto end = next + static_cast<std::ptrdiff_t>(output(array, rank).size());
    set_output(array, rank, {next, end});
    next = end;
  }
}

void InterceptedCall::change(spec::Array array, bool is_input, const Change& by) {
  for (int rank = 0; rank < ranks(); ++rank) {
    Values values = get(array, rank, is_input);
    by(values, rank);
    set(array, rank, is_input, values);
  }
}

void InterceptedCall::run() {
  call_.algorithm.run({devices_, call_.contract, told_, buffers_});
}

}  // namespace rankcheck::cases::audit
