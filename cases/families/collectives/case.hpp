#pragma once

#include <cstdint>
#include <string_view>

#include "reference/spec/call.hpp"
#include "reference/spec/collective.hpp"
#include "reference/spec/reduce_op.hpp"

#include "harness/case/case.hpp"

namespace rankcheck::cases {

/// The fields that only cases of collectives have.
struct CollectiveCase {
  static constexpr std::string_view family = spec::CollectiveTraits::family;

  /// The root's rank within the group.
  int root = 0;
  /// Unused elements behind each block, for blocks of different sizes.
  std::int64_t gap = 0;
  /// The lengths before and behind the axis, of operations along an axis; see spec::Call.
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  /// The distance from each element of a buffer to the next one, in elements; see spec::Extents. On
  /// a rank whose buffers share memory, both have the stride of recv.
  std::int64_t send_stride = 1;
  std::int64_t recv_stride = 1;
  spec::ReduceOp op = spec::ReduceOp::none;
  spec::Pattern pattern = spec::Pattern::ring;
  int shift = 1;
  /// Element i of block b takes the input of element b * index_stride + first_index + i. So a
  /// property can cut a whole into parts. If the stride is 0, the elements of the whole buffer are
  /// numbered consecutively.
  std::int64_t first_index = 0;
  std::int64_t index_stride = 0;
  /// How often the property `repeats_with_other_data` makes the call. No other property looks at
  /// it, and its stages have the default.
  int repeat = 3;

  friend bool operator==(const CollectiveCase&, const CollectiveCase&) = default;
};

/// The property that reads CollectiveCase::repeat.
inline constexpr std::string_view repeating_property = "repeats_with_other_data";
/// The most calls that it makes.
inline constexpr int repeat_max = 8;

/// The largest stride of a case.
inline constexpr std::int64_t stride_max = 16;

/// The collective's part of a case. The non-const overload is for changing it: its reference is
/// valid until the case is copied.
[[nodiscard]] inline const CollectiveCase& collective(const harness::Case& c) {
  return c.part.get<CollectiveCase>();
}
[[nodiscard]] inline CollectiveCase& collective(harness::Case& c) {
  return c.part.edit<CollectiveCase>();
}

using spec::collective;

/// The call that the group's members make.
[[nodiscard]] spec::Call collective_call(const harness::Case& c);

/// Whether calls of the operation may have strides: all but lists of arrays and operations along an
/// axis, whose arrays have shapes of their own.
[[nodiscard]] bool may_be_strided(const spec::Contract& contract);

/// Whether a buffer of the case has gaps between its elements.
[[nodiscard]] inline bool is_strided(const CollectiveCase& own) {
  return own.send_stride != 1 || own.recv_stride != 1;
}

/// Whether two stages are the same collective call, with inputs of other seeds.
[[nodiscard]] bool is_repeated(const harness::Case& a, const harness::Case& b);

}  // namespace rankcheck::cases
