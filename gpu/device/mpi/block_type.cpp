#include "gpu/device/mpi/block_type.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "gpu/device/mpi/error.hpp"

namespace rankcheck::gpu::mpi {

namespace {

/// Frees a type that was only a part of another one. Then throws Error if `code` is an error.
void free_and_check(MPI_Datatype part, int code, std::string_view what) {
  MPI_Type_free(&part);
  check(code, what);
}

MPI_Datatype vector_of(MPI_Datatype element, int elements, std::int64_t stride) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_vector(elements, 1, static_cast<int>(stride), element, &made), "MPI_Type_vector");
  return made;
}

/// Parts of unequal lengths, the first one of one element, about a hundred at most. Libraries join
/// parts that lie side by side, so a short block whose elements lie apart has a part for each.
MPI_Datatype indexed_of(const Types& types, spec::Type type, int elements, std::int64_t stride) {
  constexpr int single_parts_max = 300;
  const bool is_single = stride > 1 && elements <= single_parts_max;
  std::vector<int> lengths;
  std::vector<int> places;
  const int step = 1 + elements / 100;
  for (int place = 0; place < elements; place += lengths.back()) {
    const int k = static_cast<int>(lengths.size());
    places.push_back(is_single ? place * static_cast<int>(stride) : place);
    lengths.push_back(is_single ? 1 : std::min(1 + k % 3 * step, elements - place));
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  check(MPI_Type_indexed(static_cast<int>(lengths.size()),
                         lengths.data(),
                         places.data(),
                         is_single ? types.type(type) : types.strided(type, stride),
                         &made),
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
  const int code = MPI_Type_create_struct(2, lengths.data(), places.data(), parts.data(), &made);
  free_and_check(rest, code, "MPI_Type_create_struct");
  return made;
}

MPI_Datatype make(
    BlockLayout layout, const Types& types, spec::Type type, int elements, std::int64_t stride) {
  if (layout == BlockLayout::vector) return vector_of(types.type(type), elements, stride);
  if (layout == BlockLayout::indexed) return indexed_of(types, type, elements, stride);
  return structure_of(types, type, elements, stride);
}

}  // namespace

BlockType::BlockType(
    BlockLayout layout, const Types& types, spec::Type type, int elements, std::int64_t stride)
    : count_(elements), type_(types.strided(type, stride)) {
  if (layout == BlockLayout::elements || elements == 0) return;
  const MPI_Datatype inner = make(layout, types, type, elements, stride);
  const MPI_Aint extent = elements * stride * spec::info(type).bytes;
  MPI_Datatype whole = MPI_DATATYPE_NULL;
  const int code = MPI_Type_create_resized(inner, 0, extent, &whole);
  free_and_check(inner, code, "MPI_Type_create_resized");
  type_ = whole;
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
  is_own_ = true;
  count_ = 1;
}

BlockType::~BlockType() {
  if (is_own_) MPI_Type_free(&type_);
}

}  // namespace rankcheck::gpu::mpi
