#include "gpu/device/mpi/block_type.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "gpu/device/mpi/error.hpp"

namespace rankcheck::gpu::mpi {

namespace {

MPI_Datatype vector_of(MPI_Datatype element, int elements, std::int64_t stride) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_vector(elements, 1, static_cast<int>(stride), element, &made), "MPI_Type_vector");
  return made;
}

/// Parts of unequal lengths, the first one of one element. There are at most a few hundred, however
/// long the block is.
MPI_Datatype indexed_of(MPI_Datatype strided, int elements) {
  std::vector<int> lengths;
  std::vector<int> places;
  const int step = 1 + elements / 100;
  for (int place = 0; place < elements; place += lengths.back()) {
    const int k = static_cast<int>(lengths.size());
    places.push_back(place);
    lengths.push_back(std::min(1 + k % 3 * step, elements - place));
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_indexed(
            static_cast<int>(lengths.size()), lengths.data(), places.data(), strided, &made),
        "MPI_Type_indexed");
  return made;
}

/// A third of the elements by themselves, and the others as a vector. The first part may be empty.
MPI_Datatype structure_of(const Types& types, spec::Type type, int elements, std::int64_t stride) {
  const int first = elements / 3;
  MPI_Datatype rest = vector_of(types.type(type), elements - first, stride);
  const std::array<int, 2> lengths{first, 1};
  const std::array<MPI_Aint, 2> places{0, first * stride * spec::info(type).bytes};
  const std::array<MPI_Datatype, 2> parts{types.strided(type, stride), rest};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &made),
        "MPI_Type_create_struct");
  MPI_Type_free(&rest);
  return made;
}

}  // namespace

BlockType::BlockType(
    BlockLayout layout, const Types& types, spec::Type type, int elements, std::int64_t stride)
    : count_(elements), type_(types.strided(type, stride)) {
  if (layout == BlockLayout::elements || elements == 0) return;
  MPI_Datatype inner = layout == BlockLayout::vector ? vector_of(types.type(type), elements, stride)
                       : layout == BlockLayout::indexed
                           ? indexed_of(type_, elements)
                           : structure_of(types, type, elements, stride);
  const MPI_Aint extent = elements * stride * spec::info(type).bytes;
  check(MPI_Type_create_resized(inner, 0, extent, &type_), "MPI_Type_create_resized");
  MPI_Type_free(&inner);
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
  is_own_ = true;
  count_ = 1;
}

BlockType::~BlockType() {
  if (is_own_) MPI_Type_free(&type_);
}

}  // namespace rankcheck::gpu::mpi
