#include "gpu/device/mpi/axis.hpp"

#include <cstring>

#include "reference/spec/shapes.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::mpi {

namespace {

/// An MPI type for one column of an array: the elements that have one index along the axis. Its
/// extent is the distance to the next column.
class Column {
 public:
  Column(const Invocation& run, std::int64_t length) {
    const auto inner = static_cast<int>(run.call().inner);
    const auto outer = static_cast<int>(run.call().outer);
    MPI_Datatype column = MPI_DATATYPE_NULL;
    check(MPI_Type_vector(outer, inner, static_cast<int>(length) * inner, run.type(), &column),
          "MPI_Type_vector");
    const auto extent = static_cast<MPI_Aint>(spec::to_size(inner) * run.element_bytes());
    const int resized = MPI_Type_create_resized(column, 0, extent, &type_);
    MPI_Type_free(&column);
    check(resized, "MPI_Type_create_resized");
    const int committed = MPI_Type_commit(&type_);
    if (committed != MPI_SUCCESS) MPI_Type_free(&type_);
    check(committed, "MPI_Type_commit");
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  ~Column() { MPI_Type_free(&type_); }

  [[nodiscard]] MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// For each rank: its length along the axis and the place where it begins, in units of `unit`
/// elements.
struct Parts {
  Parts(const spec::Call& call, std::int64_t unit) {
    std::int64_t start = 0;
    for (const std::int64_t length : call.counts) {
      counts.push_back(static_cast<int>(length * unit));
      displacements.push_back(static_cast<int>(start * unit));
      start += length;
    }
  }

  std::vector<int> counts;
  std::vector<int> displacements;
};

}  // namespace

void gather_by_datatypes(const Invocation& run, const GatherCall& call) {
  const std::int64_t own_length = block_count(run.call(), run.site().rank);
  const Column own(run, own_length);
  const Column joined(run, axis_length(run.call()));
  const Parts parts(run.call(), 1);
  const Gathering gathering{.send = run.send(),
                            .send_count = static_cast<int>(own_length),
                            .send_type = own.type(),
                            .recv = run.recv(),
                            .counts = parts.counts,
                            .displacements = parts.displacements,
                            .recv_type = joined.type()};
  check(call.call(run, gathering), call.name);
}

void gather_packed(const Invocation& run, const GatherCall& call) {
  const spec::Call& shape = run.call();
  const Parts parts(shape, shape.outer * shape.inner);
  const std::int64_t length = axis_length(shape);
  const std::int64_t row_bytes = shape.inner * spec::info(shape.type).bytes;
  std::vector<std::byte> arrays(
      spec::to_size(run.has_recv() ? shape.outer * length * row_bytes : 0));
  const Gathering gathering{.send = run.send(),
                            .send_count = parts.counts[spec::to_size(run.site().rank)],
                            .send_type = run.type(),
                            .recv = arrays.data(),
                            .counts = parts.counts,
                            .displacements = parts.displacements,
                            .recv_type = run.type()};
  check(call.call(run, gathering), call.name);
  if (arrays.empty()) return;
  const std::byte* strip = arrays.data();
  for (int q = 0; q < shape.ranks; ++q) {
    const auto bytes = spec::to_size(block_count(shape, q) * row_bytes);
    const std::int64_t start = axis_start(shape, q);
    for (std::int64_t a = 0; a < shape.outer; ++a) {
      std::memcpy(run.site().recv + (a * length + start) * row_bytes, strip, bytes);
      strip += bytes;
    }
  }
}

}  // namespace rankcheck::gpu::mpi
