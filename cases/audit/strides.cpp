#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"

/// Bugs that show only if the elements of a buffer lie apart.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;

constexpr std::string_view dense = R"({"send_stride":1,"recv_stride":1})";

bool has_strides(const Case& c) {
  return is_strided(collective(c));
}

/// Lets each rank but the root take its elements from the root's buffer at the places, in elements
/// of a dense buffer, that `place_of` says.
template <class PlaceOf>
void read_from_root(const Outcome& outcome, PlaceOf place_of) {
  const int root = collective(outcome.c()).root;
  const std::int64_t bytes = spec::info(outcome.c().type).bytes;
  const harness::ImageLayout layout = layout_of(outcome, root);
  const std::byte* const send = outcome.images()[spec::to_size(root)].data() + layout.send;
  for_each_output(outcome, [&](int rank, std::int64_t index, std::byte* element) {
    if (rank == root) return;
    const std::int64_t place = place_of(rank, index, layout.extents.send_stride);
    std::copy_n(send + place * bytes, bytes, element);
  });
}

constexpr std::array of_strides{
    Bug{.name = "strided_input_read_as_dense",
        .summary = "The root sends the first bytes of its buffer, as if its elements lay one "
                   "behind another.",
        .source = "pytorch#192920",
        .target = {"broadcast", "binomial"},
        .cases_min = 400,
        .without = dense,
        .hits = has_strides,
        .edit_result =
            [](const Outcome& outcome) {
              read_from_root(outcome, [](int, std::int64_t index, std::int64_t) { return index; });
            }},
    Bug{.name = "displacement_without_stride",
        .summary = "The elements of a block are taken at their stride, but the block begins where "
                   "it would in a dense buffer.",
        .target = {"scatter", "direct"},
        .cases_min = 400,
        .without = dense,
        .hits = has_strides,
        .edit_result =
            [](const Outcome& outcome) {
              const std::int64_t count = outcome.c().count;
              read_from_root(outcome, [&](int rank, std::int64_t index, std::int64_t stride) {
                return rank * count + index * stride;
              });
            }},
    Bug{.name = "written_between_elements",
        .summary = "The result is unpacked with what lies between its elements in the sender's "
                   "buffer.",
        .target = {"all_gather", "ring"},
        .found_by = {.says = "memory behind element 0 of recv was written"},
        .cases_min = 400,
        .without = dense,
        .hits = has_strides,
        .edit_result =
            [](const Outcome& outcome) {
              for (int r = 0; r < group_size(outcome.c()); ++r) {
                const harness::ImageLayout layout = layout_of(outcome, r);
                if (layout.extents.recv_stride == 1 || layout.recv_size == 0) continue;
                const std::int64_t behind = layout.recv + spec::info(outcome.c().type).bytes;
                outcome.images()[spec::to_size(r)][spec::to_size(behind)] ^= std::byte{1};
              }
            }},
};

}  // namespace

void add_stride_bugs(std::vector<Bug>& out) {
  out.insert(out.end(), of_strides.begin(), of_strides.end());
}

}  // namespace rankcheck::cases::audit
