#include "gpu/plan/patterns/axis.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/spec/shapes.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/plan/patterns/all_gather.hpp"
#include "gpu/plan/patterns/communication_round.hpp"
#include "gpu/plan/patterns/gather.hpp"
#include "gpu/plan/patterns/partials.hpp"
#include "gpu/plan/patterns/place.hpp"
#include "gpu/plan/patterns/tree.hpp"

namespace rankcheck::gpu::plan {

namespace {

/// The whole array in the send buffer of `rank`.
Range array_of(const Builder& builder, int rank) {
  return {rank, Buffer::send, 0, builder.extents(rank).send_size};
}

/// The strip (owner, a) in the array of `owner`, wherever this array is.
Range strip_of(const Builder& builder, const Range& array, int owner, std::int64_t a) {
  const std::int64_t elements = block_count(builder.call(), owner) * builder.call().inner;
  return part(array, a * elements, elements);
}

/// The place of the strip (owner, a) in the recv buffer of `rank`.
Range place_of_strip(const Builder& builder, int rank, int owner, std::int64_t a) {
  const spec::Call& call = builder.call();
  return part(builder.recv(rank, static_cast<int>(a)),
              axis_start(call, owner) * call.inner,
              block_count(call, owner) * call.inner);
}

/// Puts the strips of `owner` to their places on `rank`.
void put_strips(Builder& builder, CommunicationRound& round, int rank, int owner) {
  for (std::int64_t a = 0; a < builder.call().outer; ++a) {
    round.put(place_of_strip(builder, rank, owner, a), builder.send(owner, static_cast<int>(a)));
  }
}

/// Copies the strips of `array` of `owner`, which is in the memory of `rank`, to their places
/// there.
void copy_strips(Builder& builder, int rank, int owner, const Range& array) {
  for (std::int64_t a = 0; a < builder.call().outer; ++a) {
    builder.copy(place_of_strip(builder, rank, owner, a), strip_of(builder, array, owner, a));
  }
}

/// Scratch memory of `rank` for the arrays of all other ranks; its own array stays in its send
/// buffer.
std::vector<Range> arrays_on(Builder& builder, int rank) {
  std::vector<Range> arrays;
  for (int q = 0; q < builder.ranks(); ++q) {
    const Range own = array_of(builder, q);
    arrays.push_back(q == rank ? own : builder.scratch(rank, own.count));
  }
  return arrays;
}

/// The rows of `rank` at index `a` before the axis.
void append_rows(const Builder& builder, int rank, std::int64_t a, std::vector<Range>& rows) {
  const Range strip = builder.send(rank, static_cast<int>(a));
  const std::int64_t inner = builder.call().inner;
  for (std::int64_t j = 0; j < block_count(builder.call(), rank); ++j) {
    rows.push_back(part(strip, j * inner, inner));
  }
}

/// Combines any number of rows in several steps, because a device limits the sources of one step.
void reduce_rows(Builder& builder,
                 const Range& destination,
                 std::span<const Range> rows,
                 bool finish) {
  constexpr std::size_t rows_per_step = 32;
  std::vector<Range> sources;
  while (!rows.empty()) {
    const std::size_t taken = std::min(rows.size(), rows_per_step);
    sources.insert(sources.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(taken));
    rows = rows.subspan(taken);
    builder.reduce(destination, sources, finish && rows.empty());
    sources.assign(1, destination);
  }
}

/// The ranks that have rows, in rank order.
std::vector<int> ranks_with_rows(const Builder& builder) {
  std::vector<int> ranks;
  for (int q = 0; q < builder.ranks(); ++q) {
    if (block_count(builder.call(), q) > 0) ranks.push_back(q);
  }
  return ranks;
}

/// The combination of the rows of `rank`, in its memory. A single row needs no step.
Range combined_rows(Builder& builder, int rank) {
  const spec::Call& call = builder.call();
  if (block_count(call, rank) == 1) return array_of(builder, rank);
  const Range combined = builder.scratch(rank, call.outer * call.inner);
  std::vector<Range> rows;
  for (std::int64_t a = 0; a < call.outer; ++a) {
    rows.clear();
    append_rows(builder, rank, a, rows);
    reduce_rows(builder, part(combined, a * call.inner, call.inner), rows, false);
  }
  return combined;
}

}  // namespace

void direct_all_gather_axis(Builder& builder) {
  const int n = builder.ranks();
  CommunicationRound round(builder);
  // In each step, every rank writes to another one.
  for (int distance = 0; distance < n; ++distance) {
    for (int q = 0; q < n; ++q) put_strips(builder, round, (q + distance) % n, q);
  }
  round.close();
}

void ring_all_gather_axis(Builder& builder) {
  std::vector<std::vector<Range>> arrays;
  for (int r = 0; r < builder.ranks(); ++r) arrays.push_back(arrays_on(builder, r));
  ring_all_gather(builder, [&](int rank, int block) {
    return arrays[spec::to_size(rank)][spec::to_size(block)];
  });
  for (int r = 0; r < builder.ranks(); ++r) {
    for (int q = 0; q < builder.ranks(); ++q) {
      copy_strips(builder, r, q, arrays[spec::to_size(r)][spec::to_size(q)]);
    }
  }
}

void direct_gather_axis(Builder& builder) {
  CommunicationRound round(builder);
  for (int q = 0; q < builder.ranks(); ++q) put_strips(builder, round, builder.call().root, q);
  round.close();
}

void binomial_gather_axis(Builder& builder) {
  const int root = builder.call().root;
  const std::vector<Range> arrays = arrays_on(builder, root);
  gather_blocks_along_tree(
      builder,
      [&](int /*rank*/, int block) { return arrays[spec::to_size(block)]; },
      [&](int rank, int /*block*/) { return array_of(builder, rank); });
  for (int q = 0; q < builder.ranks(); ++q) {
    copy_strips(builder, root, q, arrays[spec::to_size(q)]);
  }
}

void direct_reduce_axis(Builder& builder) {
  const spec::Call& call = builder.call();
  if (call.outer * call.inner == 0) return;
  const std::vector<int> owners = ranks_with_rows(builder);
  std::vector<Range> rows;
  for (std::int64_t a = 0; a < call.outer; ++a) {
    rows.clear();
    for (const int q : owners) append_rows(builder, q, a, rows);
    reduce_rows(builder, builder.recv(call.root, static_cast<int>(a)), rows, true);
  }
  if (owners.size() == 1 && owners.front() == call.root) return;
  // The owners must not change their rows before the root has read them.
  const Event read = builder.signal(call.root);
  for (const int q : owners) {
    if (q != call.root) builder.wait(q, read);
  }
}

void rows_first_reduce_axis(Builder& builder) {
  const spec::Call& call = builder.call();
  const std::int64_t elements = call.outer * call.inner;
  if (elements == 0) return;
  const std::vector<int> owners = ranks_with_rows(builder);
  std::vector<Range> combined;
  for (int q = 0; q < builder.ranks(); ++q) {
    combined.push_back(block_count(call, q) > 0 ? combined_rows(builder, q)
                                                : Range{q, Buffer::scratch, 0, elements});
  }
  Partials partials(
      builder, [&](int rank, int /*block*/) { return combined[spec::to_size(rank)]; }, 1);
  const auto found = std::find(owners.begin(), owners.end(), call.root);
  const auto top = static_cast<int>(found == owners.end() ? 0 : found - owners.begin());
  std::vector<Edge> edges = binomial_tree(static_cast<int>(owners.size()), top);
  std::reverse(edges.begin(), edges.end());
  for (const Edge& edge : edges) {
    partials.send(owners[spec::to_size(edge.child)], owners[spec::to_size(edge.parent)], 0, 1);
  }
  const Range result{call.root, Buffer::recv, 0, elements};
  partials.deliver(result, owners[spec::to_size(top)], 0);
}

}  // namespace rankcheck::gpu::plan
