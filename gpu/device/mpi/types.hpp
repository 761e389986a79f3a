#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include <mpi.h>

#include "reference/spec/reduce_op.hpp"
#include "reference/spec/type.hpp"

namespace rankcheck::gpu::mpi {

/// MPI's names for our element types and reduce ops. To MPI, f16 and bf16 are pairs of bytes, which
/// our own ops combine with one rounding in each step. Our own op compose does not commute.
/// Eight-bit floats are bytes that are only moved. The object must be destroyed before
/// MPI_Finalize.
class Types {
 public:
  Types();
  Types(const Types&) = delete;
  Types& operator=(const Types&) = delete;
  ~Types();

  [[nodiscard]] MPI_Datatype type(spec::Type type) const;
  /// The type of the elements that `op` combines. For maxloc and minloc, complex numbers are pairs:
  /// MPI_2REAL or MPI_2DOUBLE_PRECISION, which is MPI_DATATYPE_NULL in a library without Fortran.
  [[nodiscard]] MPI_Datatype type(spec::Type type, spec::ReduceOp op) const;
  /// C's own type with this content: MPI_UNSIGNED_LONG and not MPI_UINT64_T. MPI_DATATYPE_NULL if
  /// type() is C's own type already.
  [[nodiscard]] static MPI_Datatype c_type(spec::Type type);
  /// An element whose extent is `stride` elements. The next element begins there.
  [[nodiscard]] MPI_Datatype strided(spec::Type type, std::int64_t stride) const;
  /// The op that combines two partial results; MPI_SUM for avg and premul_sum.
  [[nodiscard]] MPI_Op op(spec::ReduceOp op, spec::Type type) const;

 private:
  static constexpr std::size_t op_count = spec::reduce_op_names.size();

  /// The types that were made so far.
  mutable std::map<std::pair<spec::Type, std::int64_t>, MPI_Datatype> strided_;
  MPI_Datatype half_ = MPI_DATATYPE_NULL;
  std::array<MPI_Op, op_count> f16_ops_;
  std::array<MPI_Op, op_count> bf16_ops_;
  MPI_Op compose_int32_ = MPI_OP_NULL;
  MPI_Op compose_int64_ = MPI_OP_NULL;
};

}  // namespace rankcheck::gpu::mpi
