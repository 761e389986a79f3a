#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cases/collectives/composition.hpp"
#include "cases/collectives/exact_inputs.hpp"
#include "cases/collectives/properties.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases {

namespace {

using harness::BufferView;
using harness::Case;
using harness::Evidence;
using harness::Judgement;

/// The operation that does for one array what `operation` does for a list.
std::string operation_on_one_array(std::string_view operation) {
  constexpr std::string_view suffix = "_list";
  if (!operation.ends_with(suffix)) {
    throw std::logic_error(std::string(operation) + " is no operation on lists");
  }
  return std::string(operation.substr(0, operation.size() - suffix.size()));
}

/// Writes the list's call, then the call of each array. An array has the same inputs in both.
void call_one_by_one(const spec::Contract& /*contract*/, const Case& c, std::vector<Case>& stages) {
  stages.assign(1, c);
  const CollectiveCase& list = collective(c);
  std::int64_t offset = 0;
  std::int64_t array = 0;
  for (const std::int64_t count : c.counts) {
    Case& call = stages.emplace_back(stage_of(c, operation_on_one_array(c.operation)));
    call.counts.clear();
    call.count = count;
    collective(call).gap = 0;
    collective(call).index_stride = 0;
    collective(call).first_index =
        list.first_index + (list.index_stride > 0 ? array * list.index_stride : offset);
    offset += count + list.gap;
    ++array;
  }
}

void compare_with_calls(const Evidence& evidence, Judgement& judgement) {
  expect_stages_equal_blocks(
      evidence, "the list's result differs from the call for one array", judgement);
}

void pack_differently(const spec::Contract& /*contract*/,
                      const Case& c,
                      std::vector<Case>& stages) {
  const auto elements = std::accumulate(c.counts.begin(), c.counts.end(), std::int64_t{0});
  stages.assign(1, c);
  for (const std::int64_t chunk : {std::int64_t{1}, std::int64_t{0}, elements + 1}) {
    Case& call = stages.emplace_back(c);
    call.algorithm.clear();
    call.chunk = chunk;
  }
}

void compare_packings(const Evidence& evidence, Judgement& judgement) {
  const Case& c = evidence.stages[0];
  const std::int64_t bytes = spec::info(c.type).bytes;
  for (int r = 0; r < group_size(c); ++r) {
    const BufferView own = view(evidence, 0, r);
    for (std::size_t k = 1; k < evidence.stages.size(); ++k) {
      const BufferView other = view(evidence, k, r);
      for (const spec::Block& array : own.layout.extents.recv) {
        expect_same_bits(c,
                         r,
                         array.offset,
                         array.count,
                         own.recv() + array.offset * bytes,
                         other.recv() + array.offset * bytes,
                         "the result depends on how the list is packed",
                         judgement);
      }
    }
  }
}

}  // namespace

harness::Property equals_calls_one_by_one() {
  return {
      .name = "equals_calls_one_by_one",
      .summary = "A call for a list equals one call for each of its arrays.",
      .applies = applies_exact,
      .adapt = adapt_exact,
      .program = call_one_by_one,
      .check = compare_with_calls,
  };
}

harness::Property is_independent_of_packing() {
  return {
      .name = "is_independent_of_packing",
      .summary =
          "A call agrees with calls in packs of one element, in one pack, and in the way that "
          "the backend chooses.",
      .applies = applies_exact,
      .adapt = adapt_exact,
      .program = pack_differently,
      .check = compare_packings,
  };
}

}  // namespace rankcheck::cases
