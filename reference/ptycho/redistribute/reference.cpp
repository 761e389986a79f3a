#include <array>
#include <utility>

#include "reference/ptycho/references.hpp"
#include "reference/ptycho/shards.hpp"

namespace rankcheck::reference::redistribute {

/// Needs owners, positions and frames, makes shard_positions and shard_frames.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  using spec::Array;
  const auto places = places_in_shards(in);
  for (const auto& [whole, shard] : {std::pair(Array::positions, Array::shard_positions),
                                     std::pair(Array::frames, Array::shard_frames)}) {
    out.make(shard);
    for (std::size_t i = 0; i < places.size(); ++i) {
      copy_position(in[whole], i, out[shard], places[i], spec::values(in.scene, whole));
    }
  }
}

}  // namespace rankcheck::reference::redistribute
