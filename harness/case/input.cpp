#include "harness/case/input.hpp"

#include <bit>
#include <cstring>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

namespace {

/// Index in a hash stream that belongs to no element.
constexpr std::uint64_t poison_index = std::uint64_t{1} << 61;

}  // namespace

void fill_poison(
    const Case& c, int rank, std::uint64_t always, std::byte* out, std::int64_t size_bytes) {
  static_assert(std::endian::native == std::endian::little);
  const CounterHash hash(c.data_seed, static_cast<std::uint64_t>(rank));
  std::int64_t done = 0;
  for (std::uint64_t word = poison_index; done + 8 <= size_bytes; ++word, done += 8) {
    const std::uint64_t bits = hash(word) | always;
    std::memcpy(out + done, &bits, 8);
  }
  const std::uint64_t last = hash(poison_index - 1) | always;
  if (done < size_bytes) std::memcpy(out + done, &last, spec::to_size(size_bytes - done));
}

int source_rank(const Case& c, int rank) {
  return (rank + c.rotate) % c.ranks;
}

}  // namespace rankcheck::harness
