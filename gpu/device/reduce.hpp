#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "gpu/device/element.hpp"
#include "gpu/device/source.hpp"

/// Reads many sources in one pass and combines them into one destination. Each element combines the
/// sources in the given order and rounds after each step. For host and device.
namespace rankcheck::gpu::reduce_pass {

/// The largest number of sources in one pass. They are part of a kernel's argument, whose size is
/// limited.
inline constexpr std::size_t sources_max = 64;

/// The arguments of a pass. They are stored by value, so that nothing on the host has to outlive a
/// launch.
struct Pass {
  std::byte* destination = nullptr;
  /// The number of values in each source, see element::parts_of().
  std::int64_t count = 0;
  int divisor = 1;
  int source_count = 0;
  Source sources[sources_max];
};

/// The largest number of bytes that one load or store of a device moves.
inline constexpr std::int64_t pack_bytes = 16;

template <class T>
struct alignas(pack_bytes) Pack {
  static constexpr std::int64_t lanes = pack_bytes / static_cast<std::int64_t>(sizeof(T));
  T lane[lanes];
};

/// The parts of a pass: single elements until all buffers are aligned, packs, then single elements
/// again.
struct Cut {
  std::int64_t head = 0;
  std::int64_t packs = 0;

  /// The index of the first element after the packs.
  template <class T>
  [[nodiscard]] RANKCHECK_HD std::int64_t tail() const {
    return head + packs * Pack<T>::lanes;
  }
};

/// There are no packs if the buffers are not all aligned at the same element.
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

/// A value of a source, multiplied by the source's scalar if it has one.
template <class T>
[[nodiscard]] RANKCHECK_HD auto scaled(T stored, const Source& source) {
  using A = element::Arithmetic<T>;
  auto value = A::widen(stored);
  if constexpr (std::is_arithmetic_v<decltype(value)>) {
    if (source.scalar == nullptr) return value;
    return A::round(element::multiply(value, A::widen(element::load<T>(source.scalar))));
  }
  return value;
}

/// Pairs are not divided.
template <class V>
[[nodiscard]] RANKCHECK_HD V divided(V value, int divisor) {
  if constexpr (std::is_arithmetic_v<V>) {
    if (divisor != 1) return element::divide(value, divisor);
  }
  return value;
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
  element::store<T>(pass.destination + at, A::narrow(divided(total, pass.divisor)));
}

/// Processes pack `p`, counted from the end of the head. Several sources are loaded before the
/// first of them is needed. The destination may be one of the sources.
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
    result.lane[lane] = A::narrow(divided(total[lane], pass.divisor));
  }
  *reinterpret_cast<Pack<T>*>(pass.destination + at) = result;
}

/// Does the whole pass, or every `threads`-th piece of it, beginning with piece `thread`.
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

[[nodiscard]] inline Pass make_pass(const Combination& what) {
  Pass pass;
  pass.destination = what.destination;
  pass.count = element::parts_of(what.type, what.op) * what.count;
  pass.divisor = what.divisor;
  pass.source_count = static_cast<int>(what.sources.size());
  std::copy(what.sources.begin(), what.sources.end(), pass.sources);
  return pass;
}

}  // namespace rankcheck::gpu::reduce_pass
