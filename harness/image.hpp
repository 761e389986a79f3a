#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/contract.hpp"

#include "harness/case.hpp"

namespace rankcheck::harness {

/// Where one rank's buffers lie in its image: one run of bytes that holds guard zones, the send and
/// recv buffers and poison between them. In place the buffers share memory as the contract says.
/// Offsets and sizes in bytes.
struct ImageLayout {
  std::int64_t size = 0;
  /// -1 where the rank has no such buffer.
  std::int64_t send = -1;
  std::int64_t recv = -1;
  std::int64_t send_size = 0;
  std::int64_t recv_size = 0;
  /// The call leaves the part of send outside recv undefined (ResultPlace::start in place).
  bool rest_undefined = false;
  spec::Extents extents;
};

/// Where an in-place call of kind recv_within_send leaves its result: at the rank's own block
/// (NCCL), or at the start of the buffer with the rest undefined (MPI_IN_PLACE).
enum class ResultPlace : std::uint8_t { own_block, start };

/// Bytes of guard on both sides of every buffer.
inline constexpr std::int64_t guard_bytes = 64;

/// The layout of the image of group rank `rank`; keeps the capacity of `layout`.
void lay_out(const spec::Contract& contract,
             const Case& c,
             int rank,
             ResultPlace place,
             ImageLayout& layout);

/// One rank's memory.
using Image = std::vector<std::byte>;

/// Fills the image of a member as it must be before the call: poison everywhere, then the inputs.
/// `previous` is the member's recv buffer after the stage before, where the case takes its input
/// from there.
void prepare(const Case& c,
             int world_rank,
             const ImageLayout& layout,
             const std::byte* previous,
             Image& image);

/// The contract of an operation, which must be known.
using ContractLookup = std::function<const spec::Contract&(std::string_view operation)>;

/// Lays out and prepares the image of group rank `rank` for a stage of a program. left[s] is this
/// member's image after stage s, for every stage before; null where it was no member.
void prepare_stage(const ContractLookup& contract_of,
                   std::span<const Case> stages,
                   std::size_t stage,
                   int rank,
                   ResultPlace place,
                   std::span<const std::byte* const> left,
                   ImageLayout& layout,
                   Image& image);

/// Describes the first byte outside the recv blocks that differs between the images before and
/// after the call: a broken guard, a changed input, a written gap. Empty when there is none.
[[nodiscard]] std::optional<std::string> find_clobbered(const Case& c,
                                                        const ImageLayout& layout,
                                                        const Image& before,
                                                        const Image& after);

}  // namespace rankcheck::harness
