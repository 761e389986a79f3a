#include "harness/backend/preference.hpp"

#include <fmt/format.h>

#include "harness/base/hash.hpp"
#include "harness/base/nearest.hpp"
#include "harness/case/input.hpp"

namespace rankcheck::harness {

std::uint64_t preference(const Case& c, std::string_view algorithm) {
  const std::uint64_t names = hash_of(algorithm, hash_of("/", hash_of(c.operation)));
  return CounterHash(c.data_seed, names)(0);
}

std::string why_no_algorithm(const Case& c, const std::vector<std::string>& names) {
  if (names.empty()) return "operation: " + c.operation + " is not one of the backend's";
  return fmt::format(
      "algorithm: got \"{1:.60}\", expected one that 'rankcheck list' shows for {0}{2}",
      c.operation,
      c.algorithm,
      did_you_mean(c.algorithm, names));
}

}  // namespace rankcheck::harness
