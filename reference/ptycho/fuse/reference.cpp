#include <array>
#include <utility>

#include "reference/ptycho/references.hpp"
#include "reference/ptycho/shards.hpp"

namespace rankcheck::reference::fuse {

/// Needs owners, shard_positions and shard_frames, makes positions and frames.
void reference(const OperatorArrays& in, OperatorArrays& out) {
  using spec::Array;
  const auto places = places_in_shards(in);
  for (const auto& [whole, shard] : {std::pair(Array::positions, Array::shard_positions),
                                     std::pair(Array::frames, Array::shard_frames)}) {
    out.make(whole);
    for (std::size_t i = 0; i < places.size(); ++i) {
      copy_position(in[shard], places[i], out[whole], i, spec::values(in.scene, whole));
    }
  }
}

}  // namespace rankcheck::reference::fuse
