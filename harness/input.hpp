#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/spec/contract.hpp"

#include "harness/case.hpp"

namespace rankcheck::harness {

/// The counter hash: 64 bits that depend on every argument. Documented in reports/README.md, so
/// that a subject in another language derives the same inputs.
[[nodiscard]] std::uint64_t counter_hash(std::uint64_t seed, std::uint64_t rank, std::uint64_t index);

/// Writes the input elements of `block` (number `block_index` of its buffer) of world rank `rank`
/// to `out`, which need not be aligned. Any element can be recomputed alone.
void fill_block(const Case& c,
                int rank,
                int block_index,
                const spec::Block& block,
                std::byte* out);

/// Writes the scalar of world rank `rank` for premul_sum: one element.
void fill_scalar(const Case& c, int rank, std::byte* out);

/// Whether every order of evaluation of this case's reduction is exact, so that bits are compared.
[[nodiscard]] bool is_exact(const Case& c);

/// Whether this kind of input has a meaning for the case's type and op.
[[nodiscard]] bool is_defined(InputKind kind, spec::Type type, spec::ReduceOp op);

/// The byte at `position` of the poison that fills a rank's image before the inputs are written.
void fill_poison(std::uint64_t data_seed, int rank, std::byte* out, std::int64_t size_bytes);

/// What a wrong element of a `coded` case says about its origin: "rank 3 missing, rank 5 twice" or
/// "element 4 of rank 2"; empty when nothing fits.
[[nodiscard]] std::string decode(const Case& c,
                                 const spec::Contract& contract,
                                 std::int64_t send_index,
                                 const std::byte* expected,
                                 const std::byte* got);

}  // namespace rankcheck::harness
