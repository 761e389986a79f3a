#pragma once

#include <cstddef>
#include <string>

#include <nccl.h>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

namespace rankcheck::gpu::nccl {

/// An element type in NCCL's terms. Complex numbers are pairs of elements, as in CuPy.
struct TypeWords {
  ncclDataType_t type = ncclInt8;
  /// The number of NCCL's elements in one of ours.
  std::size_t factor = 1;
};

[[nodiscard]] TypeWords words_of(spec::Type type);

/// NCCL's op. For premul_sum it is ncclSum; the real op is created for each call.
[[nodiscard]] ncclRedOp_t words_of(spec::ReduceOp op);

/// Says why a version of NCCL (a number as of NCCL_VERSION) does not have the type or op; empty if
/// it has both.
[[nodiscard]] std::string why_unknown(spec::Type type, spec::ReduceOp op, int version);

}  // namespace rankcheck::gpu::nccl
