#include "gpu/device/nccl/types.hpp"

#include <map>

namespace rankcheck::gpu::nccl {

TypeWords words_of(spec::Type type) {
  static const std::map<spec::Type, ncclDataType_t> words{
      {spec::Type::int8, ncclInt8},
      {spec::Type::uint8, ncclUint8},
      {spec::Type::int32, ncclInt32},
      {spec::Type::uint32, ncclUint32},
      {spec::Type::int64, ncclInt64},
      {spec::Type::uint64, ncclUint64},
      {spec::Type::f16, ncclFloat16},
      {spec::Type::bf16, ncclBfloat16},
      {spec::Type::f32, ncclFloat32},
      {spec::Type::f64, ncclFloat64},
      {spec::Type::f8e4m3, ncclFloat8e4m3},
      {spec::Type::f8e5m2, ncclFloat8e5m2},
  };
  return {words.at(spec::component(type)), spec::is_complex(type) ? 2U : 1U};
}

ncclRedOp_t words_of(spec::ReduceOp op) {
  if (op == spec::ReduceOp::prod) return ncclProd;
  if (op == spec::ReduceOp::min) return ncclMin;
  if (op == spec::ReduceOp::max) return ncclMax;
  return op == spec::ReduceOp::avg ? ncclAvg : ncclSum;
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
