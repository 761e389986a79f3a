#include "gpu/device/nccl/types.hpp"

namespace rankcheck::gpu::nccl {

TypeWords words_of(spec::Type type) {
  switch (type) {
    case spec::Type::int8:
      return {ncclInt8};
    case spec::Type::uint8:
      return {ncclUint8};
    case spec::Type::int32:
      return {ncclInt32};
    case spec::Type::uint32:
      return {ncclUint32};
    case spec::Type::int64:
      return {ncclInt64};
    case spec::Type::uint64:
      return {ncclUint64};
    case spec::Type::f16:
      return {ncclFloat16};
    case spec::Type::bf16:
      return {ncclBfloat16};
    case spec::Type::f32:
      return {ncclFloat32};
    case spec::Type::f64:
      return {ncclFloat64};
    case spec::Type::complex64:
      return {ncclFloat32, 2};
    case spec::Type::complex128:
      return {ncclFloat64, 2};
    case spec::Type::f8e4m3:
      return {ncclFloat8e4m3};
    case spec::Type::f8e5m2:
      return {ncclFloat8e5m2};
  }
  return {};
}

ncclRedOp_t words_of(spec::ReduceOp op) {
  switch (op) {
    case spec::ReduceOp::prod:
      return ncclProd;
    case spec::ReduceOp::min:
      return ncclMin;
    case spec::ReduceOp::max:
      return ncclMax;
    case spec::ReduceOp::avg:
      return ncclAvg;
    default:
      return ncclSum;
  }
}

std::string why_unknown(spec::Type type, spec::ReduceOp op, int version) {
  const auto since = [&](int first, const char* text) {
    return version < first ? std::string(text) : std::string();
  };
  if (spec::is_f8(type)) return since(22400, "type: 8-bit floats came with NCCL 2.24");
  if (type == spec::Type::bf16) {
    std::string why = since(21000, "type: bf16 came with NCCL 2.10");
    if (!why.empty()) return why;
  }
  if (spec::is_bitwise(op) || spec::is_logical(op)) {
    return "op: NCCL has neither bitwise nor logical reductions";
  }
  if (spec::is_located(op)) return "op: NCCL has neither maxloc nor minloc";
  if (op == spec::ReduceOp::compose) return "op: NCCL has no reductions that do not commute";
  if (op == spec::ReduceOp::avg) return since(21000, "op: avg came with NCCL 2.10");
  return {};
}

}  // namespace rankcheck::gpu::nccl
