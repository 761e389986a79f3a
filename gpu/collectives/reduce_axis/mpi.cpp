#include <algorithm>
#include <cstring>
#include <limits>

#include "reference/spec/shapes.hpp"

#include "gpu/device/mpi/invocation.hpp"

namespace rankcheck::gpu::reduce_axis {

namespace {

/// Elements of the result.
std::int64_t elements(const spec::Call& call) {
  return call.outer * call.inner;
}

/// Combines rows of `count` elements, one behind another, into the first of them. MPI_Reduce_local
/// computes in op inout. If the op does not commute, the last row is inout, and the rows before it
/// are in, one after another.
void combine_rows(const mpi::Invocation& run,
                  MPI_Op op,
                  std::byte* rows,
                  std::int64_t number,
                  std::int64_t count) {
  const auto bytes = count * spec::info(run.call().type).bytes;
  const auto combine = [&](std::byte* in, std::byte* inout) {
    mpi::check(MPI_Reduce_local(in, inout, static_cast<int>(count), run.type(), op),
               "MPI_Reduce_local");
  };
  if (spec::commutes(run.call().op)) {
    for (std::int64_t j = 1; j < number; ++j) combine(rows + j * bytes, rows);
    return;
  }
  std::byte* const last = rows + (number - 1) * bytes;
  for (std::int64_t j = number - 1; j-- > 0;) combine(rows + j * bytes, last);
  std::memmove(rows, last, spec::to_size(bytes));
}

/// The combination of this rank's rows; empty if it has none.
std::vector<std::byte> combine_own_rows(const mpi::Invocation& run, mpi::Reduction& reduction) {
  const spec::Call& call = run.call();
  const std::int64_t row_bytes = call.inner * spec::info(call.type).bytes;
  const std::int64_t length = block_count(call, run.site().rank);
  std::vector<std::byte> rows(spec::to_size(call.outer * length * row_bytes));
  if (rows.empty()) return rows;
  std::memcpy(rows.data(), reduction.source(), rows.size());
  for (std::int64_t a = 0; a < call.outer; ++a) {
    std::byte* const strip = rows.data() + a * length * row_bytes;
    combine_rows(run, reduction.op(), strip, length, call.inner);
    std::memmove(rows.data() + a * row_bytes, strip, spec::to_size(row_bytes));
  }
  rows.resize(spec::to_size(call.outer * row_bytes));
  return rows;
}

void gather_parts(mpi::Invocation& run) {
  const spec::Call& call = run.call();
  mpi::Reduction reduction(run);
  const std::vector<std::byte> own = combine_own_rows(run, reduction);
  std::vector<int> counts;
  std::vector<int> displacements;
  std::int64_t parts = 0;
  for (const std::int64_t length : call.counts) {
    counts.push_back(length > 0 ? static_cast<int>(elements(call)) : 0);
    displacements.push_back(static_cast<int>(parts * elements(call)));
    parts += length > 0 ? 1 : 0;
  }
  const std::size_t bytes = spec::to_size(elements(call)) * run.element_bytes();
  std::vector<std::byte> all(run.has_recv() ? spec::to_size(parts) * bytes : 0);
  mpi::check(MPI_Gatherv(own.data(),
                         counts[spec::to_size(run.site().rank)],
                         run.type(),
                         all.data(),
                         counts.data(),
                         displacements.data(),
                         run.type(),
                         run.root(),
                         run.site().communicator),
             "MPI_Gatherv");
  if (all.empty()) return;
  combine_rows(run, reduction.op(), all.data(), parts, elements(call));
  std::memcpy(run.recv(), all.data(), bytes);
  reduction.finish(axis_length(call));
}

std::string_view why_not_gathered(const spec::Call& call, bool /*in_place*/) {
  const bool fits = call.ranks * elements(call) <= std::numeric_limits<int>::max();
  return fits ? std::string_view{} : "counts: the parts of all ranks are more than an int counts";
}

void reduce_parts(mpi::Invocation& run) {
  mpi::Reduction reduction(run);
  const std::vector<std::byte> own = combine_own_rows(run, reduction);
  mpi::check(MPI_Reduce(own.data(),
                        run.recv(),
                        static_cast<int>(elements(run.call())),
                        run.type(),
                        reduction.op(),
                        run.root(),
                        run.site().communicator),
             "MPI_Reduce");
  reduction.finish(axis_length(run.call()));
}

std::string_view why_not_reduced(const spec::Call& call, bool /*in_place*/) {
  const bool some_empty =
      std::any_of(call.counts.begin(), call.counts.end(), [](auto count) { return count == 0; });
  return some_empty ? "counts: MPI_Reduce needs a row of every rank" : std::string_view{};
}

}  // namespace

mpi::Operation mpi() {
  return {.compositions = {
              {.name = "gathered",
               .summary = "Each rank combines its rows with MPI_Reduce_local. MPI_Gatherv brings "
                          "the results to the root, which combines them.",
               .functions = {"MPI_Gatherv"},
               .perform = gather_parts,
               .why_refused = why_not_gathered},
              {.name = "reduced",
               .summary = "Each rank combines its rows with MPI_Reduce_local, then MPI_Reduce is "
                          "called.",
               .functions = {"MPI_Reduce"},
               .perform = reduce_parts,
               .why_refused = why_not_reduced},
          }};
}

}  // namespace rankcheck::gpu::reduce_axis
