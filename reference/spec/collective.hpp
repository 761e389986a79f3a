#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/contract.hpp"

/// What the contracts of collectives say in addition to those of other families.
namespace rankcheck::spec {

/// Which sizes a call of a collective has.
enum class Sizes : std::uint8_t {
  none,
  count,
  counts_per_rank,
  counts_per_pair,
  counts_per_array,
  /// `counts`, `outer` and `inner` give the shapes of arrays; see shapes.hpp.
  lengths_along_axis,
};

/// The part of a contract that only collectives have.
struct CollectiveTraits {
  static constexpr std::string_view family = "collectives";

  Sizes sizes = Sizes::count;
  bool reduces = false;
  bool rooted = false;
  /// The call's pattern and shift define who sends to whom.
  bool patterned = false;
  /// Fills the extents of one rank, which must be empty; keeps the vectors' capacity.
  void (*extents)(const Call& call, int rank, Extents& extents) = nullptr;

  friend bool operator==(const CollectiveTraits&, const CollectiveTraits&) = default;
};

/// The collective's part of the contract of a collective.
[[nodiscard]] inline const CollectiveTraits& collective(const Contract& contract) {
  return contract.part.get<CollectiveTraits>();
}
[[nodiscard]] inline CollectiveTraits& collective(Contract& contract) {
  return contract.part.edit<CollectiveTraits>();
}

/// Fills the extents of one rank, which must be empty; keeps the vectors' capacity.
inline void fill_extents(const Contract& contract, const Call& call, int rank, Extents& extents) {
  collective(contract).extents(call, rank, extents);
}

/// Returns the extents of one rank.
[[nodiscard]] Extents extents_of(const Contract& contract, const Call& call, int rank);

/// Why no implementation may accept this call, in words. Empty if the call is legal.
[[nodiscard]] std::optional<std::string> why_invalid(const Contract& contract, const Call& call);

/// Whether a reduction along an axis combines any number of rows of each rank.
[[nodiscard]] inline bool combines_rows(const Contract& contract) {
  return collective(contract).reduces && collective(contract).sizes == Sizes::lengths_along_axis;
}

/// The number of input elements that make up one output element of a reduction. An average divides
/// by it.
[[nodiscard]] std::int64_t terms(const Contract& contract, const Call& call);

/// Makes counts for each pair of ranks the same both ways, as calls in place need them. Does
/// nothing if the contract has no such counts.
void mirror_counts(const Contract& contract, int ranks, std::vector<std::int64_t>& counts);

/// Appends `blocks` blocks of `count` elements without gaps and returns the buffer's size.
std::int64_t append_even(std::vector<Block>& out, int blocks, std::int64_t count);

/// Appends a block for each of the `n` values counts[first + i * stride], each followed by `gap`
/// unused elements, and returns the buffer's size.
std::int64_t append_uneven(std::vector<Block>& out, const Call& call, int first, int stride, int n);

/// Appends a block for each array of a list, each followed by `gap` unused elements, and returns
/// the buffer's size.
std::int64_t append_arrays(std::vector<Block>& out, const Call& call);

}  // namespace rankcheck::spec
