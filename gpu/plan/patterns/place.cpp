#include "gpu/plan/patterns/place.hpp"

#include <utility>

namespace rankcheck::gpu::plan {

Place send_blocks(const Builder& builder) {
  return [&builder](int rank, int block) { return builder.send(rank, block); };
}

Place recv_blocks(const Builder& builder) {
  return [&builder](int rank, int block) { return builder.recv(rank, block); };
}

Place whole_send(const Builder& builder) {
  return [&builder](int rank, int /*block*/) { return builder.send(rank); };
}

Place whole_recv(const Builder& builder) {
  return [&builder](int rank, int /*block*/) { return builder.recv(rank); };
}

Place broadcast_message(const Builder& builder) {
  return [&builder](int rank, int /*block*/) {
    return rank == builder.call().root ? builder.send(rank) : builder.recv(rank);
  };
}

Place parts_of(const Builder& builder, Place whole) {
  return [parts = builder.ranks(), whole = std::move(whole)](int rank, int block) {
    const Range range = whole(rank, 0);
    const spec::Block share = nearly_equal(range.count, parts, block);
    return part(range, share.offset, share.count);
  };
}

bool continues(const Range& range, const Range& next) {
  return range.rank == next.rank && range.buffer == next.buffer &&
         range.offset + range.count == next.offset;
}

}  // namespace rankcheck::gpu::plan
