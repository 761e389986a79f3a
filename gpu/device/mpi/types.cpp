#include "gpu/device/mpi/types.hpp"

#include <cstddef>

#include "reference/spec/to_size.hpp"

#include "gpu/device/element.hpp"
#include "gpu/device/mpi/error.hpp"

namespace rankcheck::gpu::mpi {

namespace {

/// Computes inout[i] = in[i] op inout[i]. It is an MPI_User_function; its buffers may have any
/// alignment.
template <class T, spec::ReduceOp op>
void combine_all(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  using Arithmetic = element::Arithmetic<T>;
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  for (int i = 0; i < *count; ++i, from += sizeof(T), to += sizeof(T)) {
    const auto a = Arithmetic::widen(element::load<T>(from));
    const auto b = Arithmetic::widen(element::load<T>(to));
    element::store(to, Arithmetic::narrow(element::combine<op>(a, b)));
  }
}

/// MPI's names for a type.
struct TypeNames {
  /// Null for pairs of bytes, which have no name.
  MPI_Datatype type = MPI_DATATYPE_NULL;
  /// See Types::c_type().
  MPI_Datatype c_type = MPI_DATATYPE_NULL;
};

TypeNames names_of(spec::Type type) {
  constexpr bool is_long_wide = sizeof(long) == sizeof(std::int64_t);
  static const std::map<spec::Type, TypeNames> names{
      {spec::Type::int8, {MPI_INT8_T, MPI_SIGNED_CHAR}},
      {spec::Type::uint8, {MPI_UINT8_T, MPI_UNSIGNED_CHAR}},
      {spec::Type::int32, {MPI_INT32_T, MPI_INT}},
      {spec::Type::uint32, {MPI_UINT32_T, MPI_UNSIGNED}},
      {spec::Type::int64, {MPI_INT64_T, is_long_wide ? MPI_LONG : MPI_LONG_LONG}},
      {spec::Type::uint64,
       {MPI_UINT64_T, is_long_wide ? MPI_UNSIGNED_LONG : MPI_UNSIGNED_LONG_LONG}},
      {spec::Type::f16, {}},
      {spec::Type::bf16, {}},
      {spec::Type::f32, {MPI_FLOAT}},
      {spec::Type::f64, {MPI_DOUBLE}},
      {spec::Type::complex64, {MPI_C_FLOAT_COMPLEX}},
      {spec::Type::complex128, {MPI_C_DOUBLE_COMPLEX}},
      {spec::Type::f8e4m3, {MPI_BYTE}},
      {spec::Type::f8e5m2, {MPI_BYTE}},
  };
  return names.at(type);
}

constexpr std::array pairwise_ops{
    spec::ReduceOp::sum, spec::ReduceOp::prod, spec::ReduceOp::min, spec::ReduceOp::max};

template <class T>
MPI_Op create_compose() {
  constexpr int commutes = 0;
  MPI_Op made = MPI_OP_NULL;
  check(MPI_Op_create(combine_all<T, spec::ReduceOp::compose>, commutes, &made), "MPI_Op_create");
  return made;
}

template <class T>
void create_ops(std::array<MPI_Op, spec::reduce_op_names.size()>& ops) {
  ops.fill(MPI_OP_NULL);
  for (const spec::ReduceOp each : pairwise_ops) {
    element::visit_pairwise<T>(each, [&](auto op) {
      constexpr int commutes = 1;
      check(MPI_Op_create(combine_all<T, op.value>, commutes, &ops[spec::to_size(each)]),
            "MPI_Op_create");
    });
  }
}

}  // namespace

Types::Types() {
  check(MPI_Type_contiguous(2, MPI_BYTE, &half_), "MPI_Type_contiguous");
  check(MPI_Type_commit(&half_), "MPI_Type_commit");
  create_ops<element::F16>(f16_ops_);
  create_ops<element::BF16>(bf16_ops_);
  compose_int32_ = create_compose<std::int32_t>();
  compose_int64_ = create_compose<std::int64_t>();
}

Types::~Types() {
  for (auto* ops : {&f16_ops_, &bf16_ops_}) {
    for (MPI_Op& op : *ops) {
      if (op != MPI_OP_NULL) MPI_Op_free(&op);
    }
  }
  MPI_Op_free(&compose_int32_);
  MPI_Op_free(&compose_int64_);
  for (auto& [key, made] : strided_) MPI_Type_free(&made);
  MPI_Type_free(&half_);
}

MPI_Datatype Types::type(spec::Type type) const {
  const MPI_Datatype fixed = names_of(type).type;
  return fixed == MPI_DATATYPE_NULL ? half_ : fixed;
}

MPI_Datatype Types::type(spec::Type type, spec::ReduceOp op) const {
  if (!spec::is_located(op)) return this->type(type);
  return type == spec::Type::complex64 ? MPI_2REAL : MPI_2DOUBLE_PRECISION;
}

MPI_Datatype Types::c_type(spec::Type type) {
  return names_of(type).c_type;
}

MPI_Datatype Types::strided(spec::Type element, std::int64_t stride) const {
  if (stride == 1) return type(element);
  const auto [found, is_new] = strided_.try_emplace({element, stride}, MPI_DATATYPE_NULL);
  if (is_new) {
    const MPI_Aint extent = spec::info(element).bytes * stride;
    check(MPI_Type_create_resized(type(element), 0, extent, &found->second),
          "MPI_Type_create_resized");
    check(MPI_Type_commit(&found->second), "MPI_Type_commit");
  }
  return found->second;
}

MPI_Op Types::op(spec::ReduceOp op, spec::Type type) const {
  const spec::ReduceOp pairwise = element::pairwise(op);
  if (type == spec::Type::f16) return f16_ops_[spec::to_size(pairwise)];
  if (type == spec::Type::bf16) return bf16_ops_[spec::to_size(pairwise)];
  if (pairwise == spec::ReduceOp::compose) {
    return type == spec::Type::int32 ? compose_int32_ : compose_int64_;
  }
  static const std::map<spec::ReduceOp, MPI_Op> names{
      {spec::ReduceOp::prod, MPI_PROD},
      {spec::ReduceOp::min, MPI_MIN},
      {spec::ReduceOp::max, MPI_MAX},
      {spec::ReduceOp::band, MPI_BAND},
      {spec::ReduceOp::bor, MPI_BOR},
      {spec::ReduceOp::bxor, MPI_BXOR},
      {spec::ReduceOp::land, MPI_LAND},
      {spec::ReduceOp::lor, MPI_LOR},
      {spec::ReduceOp::lxor, MPI_LXOR},
      {spec::ReduceOp::maxloc, MPI_MAXLOC},
      {spec::ReduceOp::minloc, MPI_MINLOC},
  };
  const auto found = names.find(pairwise);
  return found == names.end() ? MPI_SUM : found->second;
}

}  // namespace rankcheck::gpu::mpi
