#pragma once

#include "reference/ptycho/bounded_array.hpp"

namespace rankcheck::reference::redistribute {

/// Needs owners, positions and frames, makes shard_positions and shard_frames.
void reference(const OperatorArrays& in, OperatorArrays& out);

}  // namespace rankcheck::reference::redistribute
