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

#include "harness/case/case.hpp"

namespace rankcheck::harness {

class Family;

/// The places of one rank's buffers in its image. An image is one run of bytes with guard zones,
/// the send buffer, the recv buffer, and poison between them. In a call in place, the buffers share
/// memory as the contract says. Offsets and sizes are in bytes.
struct ImageLayout {
  std::int64_t size = 0;
  /// Offset of each buffer; -1 if the rank has no such buffer.
  std::int64_t send = -1;
  std::int64_t recv = -1;
  std::int64_t send_size = 0;
  std::int64_t recv_size = 0;
  /// Whether the call leaves the part of send outside recv undefined (ResultPlace::start in place).
  bool rest_undefined = false;
  spec::Extents extents;
};

/// The place of the result in an in-place call of kind recv_within_send. NCCL leaves it at the
/// rank's own block. MPI_IN_PLACE leaves it at the start of the buffer, and the rest undefined.
enum class ResultPlace : std::uint8_t { own_block, start };

/// Elements that lie `stride` elements apart from each other.
struct Elements {
  std::int64_t count = 0;
  std::int64_t stride = 1;
  std::int64_t element_bytes = 1;
};

/// Copies the elements out of a buffer, one behind the other.
[[nodiscard]] std::vector<std::byte> gather_elements(const Elements& elements,
                                                     const std::byte* buffer);
/// Copies elements that lie one behind the other into a buffer, and leaves what is between them.
void spread_elements(const Elements& elements, const std::byte* dense, std::byte* buffer);

/// The elements of a rank's whole buffers.
[[nodiscard]] Elements send_elements(const Case& c, const ImageLayout& layout);
[[nodiscard]] Elements recv_elements(const Case& c, const ImageLayout& layout);

/// Bytes of guard on both sides of every buffer.
inline constexpr std::int64_t guard_bytes = 64;

/// Computes the image layout of group rank `rank`; keeps the capacity of `layout`.
void lay_out(const spec::Contract& contract,
             const Case& c,
             int rank,
             ResultPlace place,
             ImageLayout& layout);

/// The bytes of the images of all members together.
[[nodiscard]] std::int64_t bytes_of_images(const spec::Contract& contract, const Case& c);

/// The backend, the harness and the reference may each have a copy of the images.
inline constexpr std::int64_t image_copies = 3;

/// Whether all copies of the images of all members, and of the lists of their blocks, fit into so
/// many bytes, in one call.
[[nodiscard]] bool fits_into_memory(const spec::Contract& contract,
                                    const Case& c,
                                    std::int64_t memory_bytes);

/// One rank's memory.
using Image = std::vector<std::byte>;

/// Writes the inputs of a member's send blocks into its send buffer as if it were dense. It need
/// not be aligned. The case must not take them from a previous stage.
void fill_send(const Family& family,
               const Case& c,
               int world_rank,
               const spec::Extents& extents,
               std::byte* send);

/// Fills a member's image as it must be before the call: poison everywhere, then the inputs.
/// `previous` has the elements of the member's recv buffer after the previous stage, one behind the
/// other, for a case that takes its input from there.
void prepare(const Family& family,
             const Case& c,
             int world_rank,
             const ImageLayout& layout,
             const std::byte* previous,
             Image& image);

/// Returns the contract of an operation, which must exist.
using ContractLookup = std::function<const spec::Contract&(std::string_view operation)>;

/// Lays out and prepares the image of group rank `rank` for a stage of a program. left[s] is this
/// member's image after each earlier stage s; null if it was no member of stage s.
void prepare_stage(const ContractLookup& contract_of,
                   std::span<const Case> stages,
                   std::size_t stage,
                   int rank,
                   ResultPlace place,
                   std::span<const std::byte* const> left,
                   ImageLayout& layout,
                   Image& image);

/// Describes the first byte outside the recv blocks that differs between the images before and
/// after the call. It is a broken guard, a changed input or a written gap. Empty if no byte
/// differs.
[[nodiscard]] std::optional<std::string> find_clobbered(const Case& c,
                                                        const ImageLayout& layout,
                                                        const Image& before,
                                                        const Image& after);

}  // namespace rankcheck::harness
