#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "reference/spec/contract.hpp"
#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

#include "harness/case/case.hpp"
#include "harness/case/input.hpp"

/// Inputs of collectives. They depend on the rank and on the index. INPUTS.md beside this file
/// documents the rules.
namespace rankcheck::cases {

using harness::Case;
using harness::InputKind;

/// Writes the input elements of a block in the send buffer of world rank `rank`. `block_index` is
/// the block's index in the buffer. `out` need not be aligned.
void fill_block(const Case& c, int rank, int block_index, const spec::Block& block, std::byte* out);

/// Whether every rank of the case has a scalar: premul_sum multiplies by it. False for cases of
/// other families.
[[nodiscard]] bool has_scalar(const Case& c);

/// Writes one element: the scalar of world rank `rank` for premul_sum.
void fill_scalar(const Case& c, int rank, std::byte* out);

/// This many consecutive elements contain every value of `each_special`.
inline constexpr std::int64_t special_values = 8;

/// Whether this kind of input is defined for the type and op.
[[nodiscard]] bool is_defined(InputKind kind, spec::Type type, spec::ReduceOp op);

/// Whether every order of evaluation of the case's reduction is exact. Then no error is admitted.
[[nodiscard]] bool is_exact(const Case& c);

/// Whether a partial result of integer arithmetic may leave the type's range. Our algorithms wrap.
/// MPI leaves the result undefined, and Open MPI's vector kernels saturate the small types
/// (open-mpi/ompi#8045).
[[nodiscard]] bool may_overflow(const Case& c);

/// What a wrong sum or bitwise combination of coded inputs says about the ranks, for example "rank
/// 3 missing, rank 5 twice". `index` is the element's input index (see input_index). Empty if the
/// sum cannot be decoded.
[[nodiscard]] std::string decode_sum(const Case& c,
                                     std::uint64_t index,
                                     const std::byte* expected,
                                     const std::byte* got);

/// The input index of element `i` of a block: the index that the hash uses.
[[nodiscard]] std::uint64_t input_index(const Case& c,
                                        int block_index,
                                        const spec::Block& block,
                                        std::int64_t i);

}  // namespace rankcheck::cases
