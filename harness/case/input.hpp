#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/spec/split_mix.hpp"

#include "harness/case/case.hpp"

/// Inputs as a pure function of the case: any process, in any language, can recompute any element
/// of any rank alone. Each family implements its own rules, and documents them in an INPUTS.md.
/// This file has what the families share; INPUTS.md beside it documents that.
namespace rankcheck::harness {

/// A stream of 64-bit hashes: a random function of (seed, rank), then of the index.
class CounterHash {
 public:
  CounterHash(std::uint64_t seed, std::uint64_t rank)
      : key_(spec::split_mix(spec::split_mix(seed + spec::golden_gamma) + rank +
                             spec::golden_gamma)) {}
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const {
    return spec::split_mix(key_ + (index + 1) * spec::golden_gamma);
  }

 private:
  std::uint64_t key_;
};

/// Writes poison that depends on the case, the rank and the position. `always` holds bits that are
/// set in every 8 bytes.
void fill_poison(
    const Case& c, int rank, std::uint64_t always, std::byte* out, std::int64_t size_bytes);

/// The rank whose inputs world rank `rank` has; see Case::rotate.
[[nodiscard]] int source_rank(const Case& c, int rank);

}  // namespace rankcheck::harness
