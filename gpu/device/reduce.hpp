#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "gpu/device/element.hpp"
#include "gpu/device/source.hpp"

/// Many sources read in one pass and combined into one destination, element by element in the order
/// given and with a rounding after each step; for host and device.
namespace rankcheck::gpu::reduce_pass {

/// The most sources of one pass: they travel as a kernel's argument.
inline constexpr std::size_t sources_max = 64;

/// What is combined. By value: nothing on the host has to outlive a launch.
struct Pass {
  std::byte* destination = nullptr;
  /// Of components.
  std::int64_t count = 0;
  int divisor = 1;
  int source_count = 0;
  Source sources[sources_max];
};

/// What one load or store of a device moves at most.
inline constexpr std::int64_t pack_bytes = 16;

template <class T>
struct alignas(pack_bytes) Pack {
  static constexpr std::int64_t lanes = pack_bytes / static_cast<std::int64_t>(sizeof(T));
  T lane[lanes];
};

/// How a pass is cut: single elements until all buffers are aligned, packs, single elements again.
struct Cut {
  std::int64_t head = 0;
  std::int64_t packs = 0;

  /// Where the elements behind the packs begin.
  template <class T>
  [[nodiscard]] RANKCHECK_HD std::int64_t tail() const {
    return head + packs * Pack<T>::lanes;
  }
};

/// No packs where the buffers never are aligned at the same element.
template <class T>
[[nodiscard]] Cut cut(const Pass& pass) {
  const auto misalignment = [](const void* at) {
    return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(at) % pack_bytes);
  };
  const auto element = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t off = misalignment(pass.destination);
  const bool alike = std::all_of(pass.sources, pass.sources + pass.source_count, [&](auto& source) {
    return misalignment(source.data) == off;
  });
  if (!alike || off % element != 0) return {.head = pass.count, .packs = 0};
  const std::int64_t head = std::min(pass.count, (pack_bytes - off) % pack_bytes / element);
  return {.head = head, .packs = (pass.count - head) / Pack<T>::lanes};
}

/// A value of a source, multiplied by the source's scalar.
template <class T>
[[nodiscard]] RANKCHECK_HD auto scaled(T stored, const Source& source) {
  using A = element::Arithmetic<T>;
  const auto value = A::widen(stored);
  if (source.scalar == nullptr) return value;
  return A::round(element::multiply(value, A::widen(element::load<T>(source.scalar))));
}

template <spec::ReduceOp op, class T>
RANKCHECK_HD void reduce_element(const Pass& pass, std::int64_t i) {
  using A = element::Arithmetic<T>;
  const std::int64_t at = i * static_cast<std::int64_t>(sizeof(T));
  const auto read = [&](int s) {
    return scaled(element::load<T>(pass.sources[s].data + at), pass.sources[s]);
  };
  auto total = read(0);
  for (int s = 1; s < pass.source_count; ++s) {
    total = A::round(element::combine<op>(total, read(s)));
  }
  if (pass.divisor != 1) total = element::divide(total, pass.divisor);
  element::store<T>(pass.destination + at, A::narrow(total));
}

/// Pack `p` behind the head. Several sources' loads are under way before the first of them is
/// needed. The destination may be one of the sources.
template <spec::ReduceOp op, class T>
RANKCHECK_HD void reduce_pack(const Pass& pass, const Cut& cut, std::int64_t p) {
  using A = element::Arithmetic<T>;
  constexpr int ahead = 4;
  const std::int64_t at = cut.head * static_cast<std::int64_t>(sizeof(T)) + p * pack_bytes;
  typename A::Value total[Pack<T>::lanes] = {};
  for (int first = 0; first < pass.source_count; first += ahead) {
    Pack<T> loaded[ahead];
    RANKCHECK_UNROLLED
    for (int k = 0; k < ahead; ++k) {
      if (first + k >= pass.source_count) break;
      loaded[k] = *reinterpret_cast<const Pack<T>*>(pass.sources[first + k].data + at);
    }
    RANKCHECK_UNROLLED
    for (int k = 0; k < ahead; ++k) {
      const int s = first + k;
      if (s >= pass.source_count) break;
      RANKCHECK_UNROLLED
      for (std::int64_t lane = 0; lane < Pack<T>::lanes; ++lane) {
        const auto value = scaled(loaded[k].lane[lane], pass.sources[s]);
        total[lane] = s == 0 ? value : A::round(element::combine<op>(total[lane], value));
      }
    }
  }
  Pack<T> result;
  RANKCHECK_UNROLLED
  for (std::int64_t lane = 0; lane < Pack<T>::lanes; ++lane) {
    const auto value = pass.divisor == 1 ? total[lane] : element::divide(total[lane], pass.divisor);
    result.lane[lane] = A::narrow(value);
  }
  *reinterpret_cast<Pack<T>*>(pass.destination + at) = result;
}

/// The whole pass, or every `threads`-th piece of it from `thread` on.
template <spec::ReduceOp op, class T>
RANKCHECK_HD void reduce(const Pass& pass,
                         const Cut& cut,
                         std::int64_t thread,
                         std::int64_t threads) {
  for (std::int64_t p = thread; p < cut.packs; p += threads) reduce_pack<op, T>(pass, cut, p);
  for (std::int64_t i = thread; i < cut.head; i += threads) reduce_element<op, T>(pass, i);
  for (std::int64_t i = cut.tail<T>() + thread; i < pass.count; i += threads) {
    reduce_element<op, T>(pass, i);
  }
}

/// A pass over elements of a type, of which complex ones are two components.
[[nodiscard]] inline Pass make_pass(spec::Type type,
                                    std::byte* destination,
                                    std::span<const Source> sources,
                                    std::int64_t count,
                                    int divisor) {
  Pass pass;
  pass.destination = destination;
  pass.count = spec::is_complex(type) ? 2 * count : count;
  pass.divisor = divisor;
  pass.source_count = static_cast<int>(sources.size());
  std::copy(sources.begin(), sources.end(), pass.sources);
  return pass;
}

}  // namespace rankcheck::gpu::reduce_pass
