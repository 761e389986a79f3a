#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/call.hpp"

namespace rankcheck::spec {

/// A run of elements in a buffer; offset and count in elements.
struct Block {
  std::int64_t offset = 0;
  std::int64_t count = 0;
  /// Operators of a scene: the array, and the index of the block's first component in the array of
  /// all ranks.
  Array array = Array::none;
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

/// Which sizes a call of the operation has.
enum class Sizes : std::uint8_t { none, count, counts_per_rank, counts_per_pair, scene };

/// What an operation means, except for its values. The operation's reference defines the values.
struct Contract {
  std::string_view name;
  /// One sentence in prose.
  std::string_view summary;
  /// One formula. There are n ranks, `in[q]` and `out[r]` are their buffers, and c = count.
  std::string_view formula;
  /// The API, paper or code that the meaning is taken from.
  std::string_view source;
  Sizes sizes = Sizes::count;
  InPlace in_place = InPlace::none;
  bool reduces = false;
  bool rooted = false;
  /// All ranks end with the same bits.
  bool ranks_agree = false;
  /// No rank leaves before every rank has entered.
  bool synchronises = false;
  /// The call's pattern and shift define who sends to whom.
  bool patterned = false;
  /// Operators of a scene: the arrays in the send buffer and in the recv buffer.
  std::vector<Array> inputs = {};
  std::vector<Array> outputs = {};
  /// Operators of a scene: the outputs are (complex-)linear in each of these inputs.
  std::vector<Array> linear_in = {};
  /// Operators of a scene: the object may have several slices with free space between them.
  bool multislice = false;
  /// Operators of a scene: waves travel through free space even without several slices.
  bool in_free_space = false;
  /// Operators of a scene: the object may be cut into tiles with halos.
  bool tiled = false;
  /// Operators of a scene: all positions must share the probe.
  bool shares_probe = false;
  /// Operators of a scene: the operator only adds and multiplies, so small whole numbers give exact
  /// results.
  bool exact_on_whole_numbers = false;
  /// Fills the extents of one rank, which must be empty; keeps the vectors' capacity. Null for
  /// operators of a scene: their arrays define the extents.
  void (*extents)(const Call& call, int rank, Extents& extents) = nullptr;
};

/// Unused elements behind each array of an operator of a scene.
inline constexpr std::int64_t array_gap = 16;

/// Fills the extents of one rank, which must be empty; keeps the vectors' capacity.
void fill_extents(const Contract& contract, const Call& call, int rank, Extents& extents);

/// The folder that contains the operation's folder.
[[nodiscard]] constexpr std::string_view family(const Contract& contract) {
  return contract.sizes == Sizes::scene ? "ptycho" : "collectives";
}

/// Why no implementation may accept this call, in words. Empty if the call is legal.
[[nodiscard]] std::optional<std::string> why_invalid(const Contract& contract, const Call& call);

/// Returns the extents of one rank.
[[nodiscard]] Extents extents_of(const Contract& contract, const Call& call, int rank);

/// Appends `blocks` blocks of `count` elements without gaps and returns the buffer's size.
std::int64_t append_even(std::vector<Block>& out, int blocks, std::int64_t count);

/// Appends a block for each of the `n` values counts[first + i * stride], each followed by `gap`
/// unused elements, and returns the buffer's size.
std::int64_t append_uneven(std::vector<Block>& out, const Call& call, int first, int stride, int n);

}  // namespace rankcheck::spec
