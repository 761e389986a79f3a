#include "gpu/device/mpi/second_call.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>

#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::mpi {

bool has_room_for_second(const spec::Call& call, std::int64_t stride) {
  constexpr std::int64_t bytes_max = std::int64_t{1} << 30;
  const std::int64_t gaps = call.gap * static_cast<std::int64_t>(call.counts.size());
  const std::int64_t elements =
      std::accumulate(call.counts.begin(), call.counts.end(), call.count * call.ranks + gaps);
  // Sizes have no limit that keeps their product in range.
  return elements <= bytes_max && elements * stride * spec::info(call.type).bytes <= bytes_max;
}

SecondCall::Buffer SecondCall::copy_of(std::byte* begin, std::int64_t bytes) {
  Buffer made{.begin = begin, .copy = {}};
  if (begin == nullptr) return made;
  made.copy.assign(begin, begin + bytes);
  for (std::byte& each : made.copy) each = ~each;
  return made;
}

SecondCall::SecondCall(const spec::Call& call, const spec::Extents& extents, const Site& site)
    : send_(copy_of(site.send,
                    extents.send_size * extents.send_stride * spec::info(call.type).bytes)),
      recv_(copy_of(site.recv,
                    extents.recv_size * extents.recv_stride * spec::info(call.type).bytes)) {
  const std::int64_t elements = std::accumulate(call.counts.begin(), call.counts.end(), call.count);
  starts_first_ = (elements + call.root + call.ranks) % 2 == 0;
}

void* SecondCall::argument_of_second(void* argument) {
  auto* const at = static_cast<std::byte*>(argument);
  // In place, the larger buffer contains the smaller one.
  const bool recv_is_larger = recv_.copy.size() > send_.copy.size();
  for (Buffer* const each : {recv_is_larger ? &recv_ : &send_, recv_is_larger ? &send_ : &recv_}) {
    // Pointers into different arrays have an order only through std::less.
    const std::less<> is_before;
    const std::byte* const end = each->begin + each->copy.size();
    if (each->copy.empty() || is_before(at, each->begin) || !is_before(at, end)) continue;
    return each->copy.data() + (at - each->begin);
  }
  return argument;
}

void SecondCall::keep_data() {
  // In place, the buffers overlap, so all contents are kept before any changes.
  for (Buffer* const each : {&send_, &recv_})
    each->own.assign(each->begin, each->begin + each->copy.size());
}

void SecondCall::change_data(std::byte change) {
  for (const Buffer* const each : {&send_, &recv_}) {
    std::transform(each->own.begin(), each->own.end(), each->begin, [change](std::byte byte) {
      return byte ^ change;
    });
  }
}

void SecondCall::work() {
  static std::vector<unsigned> numbers(1024);
  unsigned state = 1;
  for (unsigned& each : numbers) {
    state = state * 1664525U + 1013904223U;
    each += state;
  }
}

}  // namespace rankcheck::gpu::mpi
