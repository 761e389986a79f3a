#pragma once

#include <cstdint>

#include <mpi.h>

#include "reference/spec/type.hpp"

#include "gpu/device/mpi/types.hpp"

namespace rankcheck::gpu::mpi {

/// How a block is described to MPI: as `count` elements, or as one element of a derived type.
enum class BlockLayout { elements, vector, indexed, structure };

/// A block in the arguments of an MPI call: `count` elements of `type`. Frees the type if it was
/// made for the block. Throws Error if an MPI call fails.
class BlockType {
 public:
  /// A block of `elements` elements. Each begins `stride` elements behind the one before, and the
  /// next block begins `stride` elements behind the last one. `types` must outlive the object.
  BlockType(
      BlockLayout layout, const Types& types, spec::Type type, int elements, std::int64_t stride);
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;
  ~BlockType();

  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  int count_ = 0;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool is_own_ = false;
};

}  // namespace rankcheck::gpu::mpi
