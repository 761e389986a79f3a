#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/spec/family_part.hpp"

namespace rankcheck::spec {

/// The arrays of operators; see scene.hpp.
enum class Array : std::uint8_t;

/// A run of elements in a buffer; offset and count in elements.
struct Block {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  /// The array that the block belongs to, if the family's buffers hold several arrays.
  Array array{};
  /// The index that the block's first component has in this array of all ranks.
  std::int64_t first = 0;
};

/// One rank's buffers in one call. Elements between and behind the blocks belong to the buffer, but
/// the operation must not write them. If a size has no blocks, the rank has a buffer that the
/// operation leaves alone (recv of ranks other than the root). If there are neither size nor
/// blocks, the rank has no such buffer.
struct Extents {
  std::vector<Block> send;
  std::vector<Block> recv;
  /// Elements of the whole buffers, including gaps.
  std::int64_t send_size = 0;
  std::int64_t recv_size = 0;
  /// The distance from each element of a buffer to the next one, in elements. 1: the buffer is
  /// dense. The memory between two elements must not be written.
  std::int64_t send_stride = 1;
  std::int64_t recv_stride = 1;
};

/// How the two buffers overlap in a call in place, on the ranks that have both buffers.
enum class InPlace : std::uint8_t {
  /// A call in place is rejected.
  none,
  /// recv is send.
  same,
  /// send is the block of recv that belongs to this rank (all_gather, gather).
  send_within_recv,
  /// recv is the block of send that belongs to this rank (reduce_scatter, scatter).
  recv_within_send,
};

/// What an operation means, except for its values. The operation's reference defines the values.
struct Contract {
  std::string_view name;
  /// One sentence in prose.
  std::string_view summary;
  /// One formula. There are n ranks, `in[q]` and `out[r]` are their buffers, and c = count.
  std::string_view formula;
  /// The API, paper or code that the meaning is taken from.
  std::string_view source;
  InPlace in_place = InPlace::none;
  /// Whether a call in place (recv_within_send) may leave the result at the start of send and
  /// overwrite the rest, as MPI's reductions do.
  bool in_place_overwrites = false;
  /// Whether calls have buffers. Without buffers, the type makes no difference.
  bool has_buffers = true;
  /// All ranks end with the same bits.
  bool ranks_agree = false;
  /// No rank leaves before every rank has entered.
  bool synchronises = false;
  /// What only the operation's family knows: CollectiveTraits or OperatorTraits, for example.
  FamilyPart part;
};

/// The family of the operation. It is the name of the folder that contains the operation's folder.
[[nodiscard]] inline std::string_view family(const Contract& contract) {
  return contract.part.family();
}

}  // namespace rankcheck::spec
