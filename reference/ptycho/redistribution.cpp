#include <cstdint>
#include <vector>

#include "reference/ptycho/references.hpp"
#include "reference/spec/to_size.hpp"

/// References of the moves between the ranks that have positions and the ranks that own them.
namespace rankcheck::reference {

namespace {

using spec::Array;

/// For every position, the index of its copy among all ranks' shards. Rank r's shard begins at r
/// times the number of positions and holds the rank's own positions in their order.
std::vector<std::size_t> places_in_shards(const OperatorArrays& arrays) {
  std::vector<std::size_t> used(arrays.counts.size(), 0);
  std::vector<std::size_t> places;
  for (const auto& owner : arrays[Array::owners].values) {
    const auto rank = static_cast<std::size_t>(owner.real());
    places.push_back(rank * spec::to_size(arrays.positions) + used[rank]++);
  }
  return places;
}

/// Copies the values of every position, and their errors, to the shard of its owner or back.
void copy_positions(
    const OperatorArrays& in, Array whole, Array shard, bool to_shard, OperatorArrays& out) {
  const auto size = spec::to_size(spec::values(in.scene, whole));
  const BoundedArray& from = in[to_shard ? whole : shard];
  BoundedArray& to = out.make(to_shard ? shard : whole);
  std::size_t position = 0;
  for (const std::size_t place : places_in_shards(in)) {
    const std::size_t first = (to_shard ? position : place) * size;
    const std::size_t target = (to_shard ? place : position) * size;
    for (std::size_t i = 0; i < size; ++i) {
      to.values[target + i] = from.values[first + i];
      to.errors[target + i] = from.errors[first + i];
    }
    ++position;
  }
}

}  // namespace

/// Needs owners, positions and frames, makes shard_positions and shard_frames.
void redistribute::reference(const OperatorArrays& in, OperatorArrays& out) {
  copy_positions(in, Array::positions, Array::shard_positions, true, out);
  copy_positions(in, Array::frames, Array::shard_frames, true, out);
}

/// Needs owners, shard_positions and shard_frames, makes positions and frames.
void fuse::reference(const OperatorArrays& in, OperatorArrays& out) {
  copy_positions(in, Array::positions, Array::shard_positions, false, out);
  copy_positions(in, Array::frames, Array::shard_frames, false, out);
}

}  // namespace rankcheck::reference
