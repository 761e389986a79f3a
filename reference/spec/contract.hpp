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
  /// Operators of a scene: which array this is, and the number of its first component among those
  /// of all positions.
  Array array = Array::none;
  std::int64_t first = 0;
};

/// One rank's buffers in one call. Elements between and behind the blocks belong to the buffer but
/// not to the operation: nobody may write them. A size without blocks is a buffer that the
/// operation leaves alone (recv off the root); no size and no blocks: the rank has no such buffer.
struct Extents {
  std::vector<Block> send;
  std::vector<Block> recv;
  /// Elements of the whole buffers, gaps included.
  std::int64_t send_size = 0;
  std::int64_t recv_size = 0;
};

/// How the two buffers overlap in a call in place, on the ranks that have both.
enum class InPlace : std::uint8_t {
  /// Such a call is rejected.
  none,
  /// recv is send.
  same,
  /// send is the block of recv that belongs to this rank (all_gather, gather).
  send_within_recv,
  /// recv is the block of send that belongs to this rank (reduce_scatter, scatter).
  recv_within_send,
};

/// Which sizes a call states.
enum class Sizes : std::uint8_t { none, count, counts_per_rank, counts_per_pair, scene };

/// What an operation means, apart from its values: those are its reference's.
struct Contract {
  std::string_view name;
  /// One sentence in prose.
  std::string_view summary;
  /// One formula; n ranks, `in[q]` and `out[r]` their buffers, c = count.
  std::string_view formula;
  /// Where the meaning is taken from.
  std::string_view source;
  Sizes sizes = Sizes::count;
  InPlace in_place = InPlace::none;
  bool reduces = false;
  bool rooted = false;
  /// All ranks end with the same bits.
  bool ranks_agree = false;
  /// No rank leaves before every rank has entered.
  bool synchronises = false;
  /// The call's pattern and shift say who sends to whom.
  bool patterned = false;
  /// Operators of a scene: the arrays in the send and in the recv buffer.
  std::vector<Array> inputs = {};
  std::vector<Array> outputs = {};
  /// Operators of a scene: the inputs in each of which the outputs are (complex-)linear.
  std::vector<Array> linear_in = {};
  /// Operators of a scene: the object may have several slices, between them free space.
  bool multislice = false;
  /// Operators of a scene: waves travel through free space even without several slices.
  bool in_free_space = false;
  /// Operators of a scene: the object may be cut into tiles with halos.
  bool tiled = false;
  /// Operators of a scene: all positions must share the probe.
  bool shares_probe = false;
  /// Operators of a scene: sums and products of whole numbers alone, hence exact for small ones.
  bool exact_on_whole_numbers = false;
  /// Fills the extents of one rank; keeps the vectors' capacity. Null for operators of a scene,
  /// whose arrays say it all.
  void (*extents)(const Call& call, int rank, Extents& extents) = nullptr;
};

/// Elements that belong to nobody behind each array of an operator of a scene.
inline constexpr std::int64_t array_gap = 16;

/// Fills the extents of one rank, which must be empty; keeps the vectors' capacity.
void fill_extents(const Contract& contract, const Call& call, int rank, Extents& extents);

/// The folder that the operation's folder lies in.
[[nodiscard]] constexpr std::string_view family(const Contract& contract) {
  return contract.sizes == Sizes::scene ? "ptycho" : "collectives";
}

/// Why no implementation may accept this call, in words; empty when the call is legal.
[[nodiscard]] std::optional<std::string> why_invalid(const Contract& contract, const Call& call);

/// The extents of one rank by value.
[[nodiscard]] Extents extents_of(const Contract& contract, const Call& call, int rank);

/// Appends `blocks` blocks of `count` elements without gaps and returns the buffer's size.
std::int64_t append_even(std::vector<Block>& out, int blocks, std::int64_t count);

/// Appends a block for each of the `n` values counts[first + i * stride], each followed by `gap`
/// unused elements, and returns the buffer's size.
std::int64_t append_uneven(std::vector<Block>& out, const Call& call, int first, int stride, int n);

}  // namespace rankcheck::spec
