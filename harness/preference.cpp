#include "harness/preference.hpp"

#include "harness/hash.hpp"
#include "harness/input.hpp"

namespace rankcheck::harness {

std::uint64_t preference(const Case& c, std::string_view algorithm) {
  const std::uint64_t names = hash_of(algorithm, hash_of("/", hash_of(c.operation)));
  return CounterHash(c.data_seed, names)(0);
}

}  // namespace rankcheck::harness
