#include "gpu/plan/patterns/list.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "gpu/plan/patterns/all_gather.hpp"
#include "gpu/plan/patterns/reduce_scatter.hpp"
#include "gpu/plan/patterns/tree.hpp"

namespace rankcheck::gpu::plan {

namespace {

bool has_input(const Builder& builder, int rank) {
  return !builder.extents(rank).send.empty();
}

bool has_result(const Builder& builder, int rank) {
  return !builder.extents(rank).recv.empty();
}

/// A run of elements of an array, and its place in a pack.
struct PackedRun {
  int array = 0;
  std::int64_t offset = 0;
  std::int64_t count = 0;
  std::int64_t offset_in_pack = 0;
};

/// Cuts the list into packs of `pack` elements.
std::vector<std::vector<PackedRun>> cut(const std::vector<std::int64_t>& counts,
                                        std::int64_t pack) {
  std::vector<std::vector<PackedRun>> packs;
  std::int64_t used = pack;
  for (std::size_t array = 0; array < counts.size(); ++array) {
    for (std::int64_t offset = 0; offset < counts[array];) {
      if (used == pack) {
        packs.emplace_back();
        used = 0;
      }
      const std::int64_t count = std::min(pack - used, counts[array] - offset);
      packs.back().push_back({.array = static_cast<int>(array),
                              .offset = offset,
                              .count = count,
                              .offset_in_pack = used});
      offset += count;
      used += count;
    }
  }
  return packs;
}

}  // namespace

void ring_all_reduce_array(Builder& builder, const Place& in, const Place& out) {
  const Place parts = parts_of(builder, out);
  ring_reduce_scatter(builder, parts_of(builder, in), parts);
  ring_all_gather(builder, parts);
}

void tree_all_reduce_array(Builder& builder, const Place& in, const Place& out) {
  reduce_along_tree(builder, 0, in, out(0, 0));
  broadcast_along_tree(builder, 0, out);
}

void tree_reduce_array(Builder& builder, const Place& in, const Place& out) {
  const int root = builder.call().root;
  reduce_along_tree(builder, root, in, out(root, 0));
}

void tree_broadcast_array(Builder& builder, const Place& in, const Place& out) {
  const int root = builder.call().root;
  broadcast_along_tree(builder, root, [&](int rank, int block) {
    return rank == root ? in(rank, block) : out(rank, block);
  });
  builder.copy(out(root, 0), in(root, 0));
}

void array_by_array(Builder& builder, ArrayPattern& pattern) {
  for (int array = 0; array < static_cast<int>(builder.call().counts.size()); ++array) {
    pattern(
        builder,
        [&](int rank, int /*block*/) { return builder.send(rank, array); },
        [&](int rank, int /*block*/) { return builder.recv(rank, array); });
  }
}

void pack_by_pack(Builder& builder, ArrayPattern& pattern, std::int64_t pack) {
  const auto n = spec::to_size(builder.ranks());
  std::vector<Range> in(n);
  std::vector<Range> out(n);
  for (const std::vector<PackedRun>& runs : cut(builder.call().counts, pack)) {
    const std::int64_t elements = runs.back().offset_in_pack + runs.back().count;
    for (int rank = 0; rank < builder.ranks(); ++rank) {
      if (has_result(builder, rank)) out[spec::to_size(rank)] = builder.scratch(rank, elements);
      if (!has_input(builder, rank)) continue;
      const Range own = builder.scratch(rank, elements);
      in[spec::to_size(rank)] = own;
      for (const PackedRun& run : runs) {
        builder.copy(part(own, run.offset_in_pack, run.count),
                     part(builder.send(rank, run.array), run.offset, run.count));
      }
    }
    pattern(
        builder,
        [&](int rank, int /*block*/) { return in[spec::to_size(rank)]; },
        [&](int rank, int /*block*/) { return out[spec::to_size(rank)]; });
    for (int rank = 0; rank < builder.ranks(); ++rank) {
      if (!has_result(builder, rank)) continue;
      for (const PackedRun& run : runs) {
        builder.copy(part(builder.recv(rank, run.array), run.offset, run.count),
                     part(out[spec::to_size(rank)], run.offset_in_pack, run.count));
      }
    }
  }
}

std::int64_t list_elements(const spec::Call& call) {
  return std::accumulate(call.counts.begin(), call.counts.end(), std::int64_t{0});
}

}  // namespace rankcheck::gpu::plan
