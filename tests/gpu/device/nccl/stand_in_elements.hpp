#pragma once

#include <array>
#include <cstddef>

#include <nccl.h>

#include "reference/spec/type.hpp"

#include "tests/gpu/device/nccl/stand_in_comm.hpp"

/// The stand-in's arithmetic.
namespace rankcheck::stand_in {

/// Element types by NCCL's number.
inline constexpr std::array types{spec::Type::int8,
                                  spec::Type::uint8,
                                  spec::Type::int32,
                                  spec::Type::uint32,
                                  spec::Type::int64,
                                  spec::Type::uint64,
                                  spec::Type::f16,
                                  spec::Type::f32,
                                  spec::Type::f64,
                                  spec::Type::bf16,
                                  spec::Type::f8e4m3,
                                  spec::Type::f8e5m2};

[[nodiscard]] inline spec::Type type_of(ncclDataType_t type) {
  return types[static_cast<std::size_t>(type)];
}

[[nodiscard]] inline std::size_t bytes_of(ncclDataType_t type) {
  return static_cast<std::size_t>(spec::info(type_of(type)).bytes);
}

/// Returns a rank's contribution to a reduction: its elements, scaled if the op requires this.
[[nodiscard]] Bytes contribution(
    const ncclComm& comm, spec::Type type, int op, const void* from, std::size_t n);

/// Combines the payloads of all messages in rank order.
[[nodiscard]] Bytes combine(const ncclComm& comm, spec::Type type, int op, const Work& work);

}  // namespace rankcheck::stand_in
