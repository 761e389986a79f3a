#include "gpu/device/sim/combine.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "reference/spec/to_size.hpp"

#include "gpu/device/element.hpp"

namespace rankcheck::gpu::sim {

namespace {

/// Elements that are combined at a time. All sources pass through a block that stays in the
/// first-level cache, so memory is read once and written once. The trip count is a constant so that
/// the compiler vectorises the loops. The copies allow any alignment.
constexpr std::int64_t block_count = 512;

template <class T>
using Value = typename element::Arithmetic<T>::Value;

/// Reads elements as values for arithmetic and multiplies them by the source's scalar if it has
/// one.
template <class T>
[[gnu::always_inline]] inline void read(const Source& source,
                                        std::int64_t first,
                                        std::int64_t count,
                                        Value<T>* values) {
  using A = element::Arithmetic<T>;
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const auto bytes = spec::to_size(count * size);
  if constexpr (std::is_same_v<T, Value<T>>) {
    std::memcpy(values, source.data + first * size, bytes);
  } else {
    T stored[block_count];
    std::memcpy(stored, source.data + first * size, bytes);
    for (std::int64_t i = 0; i < count; ++i) values[i] = A::widen(stored[i]);
  }
  if constexpr (std::is_arithmetic_v<Value<T>>) {
    if (source.scalar == nullptr) return;
    const Value<T> scalar = A::widen(element::load<T>(source.scalar));
    for (std::int64_t i = 0; i < count; ++i) {
      values[i] = A::round(element::multiply(values[i], scalar));
    }
  }
}

/// Combines at most one block. Always inlined, so that loops with a constant `count` are unrolled.
template <spec::ReduceOp op, class T>
[[gnu::always_inline]] inline void combine_block(std::byte* destination,
                                                 std::span<const Source> sources,
                                                 std::int64_t first,
                                                 std::int64_t count,
                                                 int divisor) {
  using A = element::Arithmetic<T>;
  constexpr bool may_round = op == spec::ReduceOp::sum || op == spec::ReduceOp::prod;
  Value<T> total[block_count];
  Value<T> next[block_count];
  read<T>(sources.front(), first, count, total);
  for (const Source& source : sources.subspan(1)) {
    read<T>(source, first, count, next);
    for (std::int64_t i = 0; i < count; ++i) {
      total[i] = element::combine<op>(total[i], next[i]);
      if constexpr (may_round) total[i] = A::round(total[i]);
    }
  }
  if constexpr (std::is_arithmetic_v<Value<T>>) {
    if (divisor != 1) {
      for (std::int64_t i = 0; i < count; ++i) total[i] = element::divide(total[i], divisor);
    }
  }
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const auto bytes = spec::to_size(count * size);
  if constexpr (std::is_same_v<T, Value<T>>) {
    std::memcpy(destination + first * size, total, bytes);
  } else {
    T stored[block_count];
    for (std::int64_t i = 0; i < count; ++i) stored[i] = A::narrow(total[i]);
    std::memcpy(destination + first * size, stored, bytes);
  }
}

template <spec::ReduceOp op, class T>
void combine_typed(std::byte* destination,
                   std::span<const Source> sources,
                   std::int64_t count,
                   int divisor) {
  std::int64_t first = 0;
  for (; first + block_count <= count; first += block_count) {
    combine_block<op, T>(destination, sources, first, block_count, divisor);
  }
  if (first < count) combine_block<op, T>(destination, sources, first, count - first, divisor);
}

}  // namespace

void combine(const Combination& what) {
  if (what.count == 0) return;
  const Source& first = what.sources.front();
  if (what.sources.size() == 1 && first.scalar == nullptr && what.divisor == 1) {
    if (first.data == what.destination) return;
    const std::int64_t bytes = what.count * spec::info(what.type).bytes;
    std::memcpy(what.destination, first.data, spec::to_size(bytes));
    return;
  }
  const std::int64_t values = element::parts_of(what.type, what.op) * what.count;
  element::visit_values(what.type, what.op, [&](auto stored, auto pairwise) {
    combine_typed<pairwise(), decltype(stored)>(
        what.destination, what.sources, values, what.divisor);
  });
}

}  // namespace rankcheck::gpu::sim
