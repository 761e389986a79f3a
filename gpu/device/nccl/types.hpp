#pragma once

#include <cstddef>
#include <string>

#include <nccl.h>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

namespace rankcheck::gpu::nccl {

/// An element type in NCCL's words: complex numbers are pairs, as in CuPy.
struct TypeWords {
  ncclDataType_t type = ncclInt8;
  /// NCCL's elements in one of ours.
  std::size_t factor = 1;
};

[[nodiscard]] TypeWords words_of(spec::Type type);

/// NCCL's op; ncclSum for premul_sum, whose op is made for each call.
[[nodiscard]] ncclRedOp_t words_of(spec::ReduceOp op);

/// Why a version of NCCL (as NCCL_VERSION makes it) has no such type or op; empty where it has.
[[nodiscard]] std::string why_unknown(spec::Type type, spec::ReduceOp op, int version);

}  // namespace rankcheck::gpu::nccl
