#include "harness/input.hpp"

#include <bit>
#include <cstring>

#include "reference/spec/to_size.hpp"

namespace rankcheck::harness {

namespace {

constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
/// Index in a hash stream that belongs to no element.
constexpr std::uint64_t poison_index = std::uint64_t{1} << 61;

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

CounterHash::CounterHash(std::uint64_t seed, std::uint64_t rank)
    : key_(mix(mix(seed + golden) + rank + golden)) {}

std::uint64_t CounterHash::operator()(std::uint64_t index) const {
  return mix(key_ + (index + 1) * golden);
}

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
