#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "reference/spec/family_part.hpp"
#include "reference/spec/type.hpp"

#include "harness/base/bad_input.hpp"

/// The harness generates cases, runs and judges them, shrinks failures and reports. It knows no
/// operation and no family by name.
namespace rankcheck::harness {

/// How the elements of the send buffers are derived from (data_seed, rank, index); see input.hpp.
enum class InputKind : std::uint8_t {
  exact,
  coded,
  general,
  cancelling,
  wide_range,
  special,
  /// Every special value of a floating-point type in turn: any eight consecutive elements contain
  /// all of them.
  each_special,
  /// Like general, but in f64 all bits of a double are drawn. Only families whose general inputs
  /// are numbers of single precision have it.
  fine,
  /// The send buffer holds the values that the previous stage left in the recv buffer.
  previous,
  /// The values are a user's own; see GivenInputs.
  given,
  /// Sums of the whole world reach the largest number of the type, or are a little more or less.
  edge,
};

/// The kinds' names, in the order of the enumerators.
inline constexpr std::array<std::string_view, 11> input_kind_names{"exact",
                                                                   "coded",
                                                                   "general",
                                                                   "cancelling",
                                                                   "wide_range",
                                                                   "special",
                                                                   "each_special",
                                                                   "fine",
                                                                   "previous",
                                                                   "given",
                                                                   "edge"};

[[nodiscard]] std::string_view name(InputKind kind);

/// A user's own inputs, in place of inputs that follow from a case.
struct GivenInputs {
  /// The elements of each world rank's send buffer, also those between its blocks. Empty for a rank
  /// without such a buffer.
  std::vector<std::vector<std::byte>> send;
  /// What a member knows besides its buffers, such as the scalar of a collective: one element for
  /// each world rank. Empty if the case's rules say it.
  std::vector<std::byte> scalars;
};

/// The most calls that a case may have before its own.
inline constexpr int earlier_max = 64;

/// One run of one operation, as a small value: everything else follows from it. These fields are
/// common to all families of operations; `part` holds the fields of the operation's own family.
/// A case's JSON leaves out fields with their defaults. A case is stable text that can always be
/// replayed.
struct Case {
  std::string operation;
  std::string property = "agrees_with_reference";
  std::string backend = "sim";
  std::string algorithm;
  /// Number of ranks of the world; they are 0 … ranks-1.
  int ranks = 1;
  /// World ranks of the members in group order. Empty: the whole world in order.
  std::vector<int> group;
  /// The host of each world rank; hosts are numbered from 0 in the order in which they appear.
  /// Empty: all ranks are on one host.
  std::vector<int> hosts;
  /// The size of every part, for operations whose parts have equal sizes. The family says what the
  /// parts are and what is counted.
  std::int64_t count = 0;
  /// The size of each part, for operations whose parts have different sizes.
  std::vector<std::int64_t> counts;
  spec::Type type = spec::Type::f32;
  bool in_place = false;
  /// Number of elements by which both buffers start behind a 64-byte boundary.
  std::int64_t offset = 0;
  /// The size of the pieces that an algorithm works on at a time. 0: the algorithm decides.
  std::int64_t chunk = 0;
  /// Whether the call is made while its inputs are still on their way: they are written on the
  /// ranks' streams just before the call, and nobody waits before the outputs are read on the same
  /// streams.
  bool pending = false;
  /// The rank of the group that enters the call late. -1: nobody.
  int late = -1;
  /// Whether an earlier call is only started, and waited for when the next call of the rank that
  /// does not overlap has ended. The last one that was started is waited for first, unless its data
  /// seed is even: then it comes after all that started before it.
  bool overlaps = false;
  /// Whether the members of an earlier call free its communicator when the call has ended, so that
  /// the next call of the group makes another one. No call before it overlaps.
  bool frees = false;
  InputKind input = InputKind::general;
  std::uint64_t data_seed = 1;
  /// World rank r holds the inputs of rank (r + rotate) mod ranks. So a property can permute the
  /// inputs without permuting the ranks.
  int rotate = 0;
  /// A small whole number that multiplies the inputs. The family says which inputs.
  int scale = 1;
  /// If above 0, the inputs of this seed are added. The family says to which inputs they are added.
  std::uint64_t added_seed = 0;
  /// Schedule and fault in gpu's text form; the backend interprets them.
  std::string schedule = "in_order";
  std::string fault;
  /// Calls that the same ranks make before this one, in this order. They have the case's ranks,
  /// hosts and backend. Only properties with Property::has_earlier run them.
  std::vector<Case> earlier;
  /// The fields of the operation's own family; see family.hpp.
  spec::FamilyPart part;
  /// The inputs of kind `given`; otherwise null. They are no part of a case's JSON.
  std::shared_ptr<const GivenInputs> given;

  friend bool operator==(const Case&, const Case&) = default;
};

/// World ranks of the group's members, even if the case does not list them.
[[nodiscard]] std::vector<int> members(const Case& c);

/// Number of the group's members.
[[nodiscard]] int group_size(const Case& c);

/// A case as JSON, without defaults, with fields in a fixed order.
[[nodiscard]] nlohmann::ordered_json to_json(const Case& c);
/// to_json on one line.
[[nodiscard]] std::string to_text(const Case& c);

/// Reads a case. Throws BadInput for unknown fields, wrong types and values out of range; the
/// message names the field and what was expected. If no family has the operation, only the common
/// fields are read: why_invalid() then says that the operation is unknown.
[[nodiscard]] Case case_from_json(const nlohmann::json& json);
[[nodiscard]] Case case_from_text(const std::string& text);

}  // namespace rankcheck::harness
