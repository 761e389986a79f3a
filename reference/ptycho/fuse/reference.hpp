#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::fuse {

/// Needs owners, shard_positions and shard_frames, makes positions and frames.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::fuse
