#include "harness/preference.hpp"

#include "harness/input.hpp"

namespace rankcheck::harness {

namespace {

/// FNV-1a: the same on every machine, which std::hash is not.
std::uint64_t hash_of(std::string_view text, std::uint64_t start) {
  constexpr std::uint64_t prime = 0x100000001b3;
  for (const char letter : text) start = (start ^ static_cast<unsigned char>(letter)) * prime;
  return start;
}

}  // namespace

std::uint64_t preference(const Case& c, std::string_view algorithm) {
  constexpr std::uint64_t offset_basis = 0xcbf29ce484222325;
  const std::uint64_t names = hash_of(algorithm, hash_of("/", hash_of(c.operation, offset_basis)));
  return CounterHash(c.data_seed, names)(0);
}

}  // namespace rankcheck::harness
