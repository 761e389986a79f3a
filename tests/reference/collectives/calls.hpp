#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "reference/collectives/registry.hpp"
#include "reference/spec/collective.hpp"
#include "reference/spec/shapes.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::tests {

/// The collective must exist.
inline const reference::Collective& collective_named(std::string_view name) {
  const auto& all = reference::collectives();
  return *std::find_if(
      all.begin(), all.end(), [&](const auto& each) { return each.contract.name == name; });
}

/// Returns a legal call whose last rank is the root, and whose reduction is `op`. Equal blocks have
/// `size` elements. Uneven sizes are at most `size`, include zeros and differ between neighbours.
inline spec::Call call_of(const spec::Contract& contract,
                          int ranks,
                          std::int64_t size,
                          spec::ReduceOp op = spec::ReduceOp::sum) {
  const spec::CollectiveTraits& traits = collective(contract);
  const auto n = spec::to_size(ranks);
  spec::Call call{.ranks = ranks};
  if (traits.rooted) call.root = ranks - 1;
  if (traits.reduces) call.op = op;
  const bool along_axis = traits.sizes == spec::Sizes::lengths_along_axis;
  if (traits.sizes == spec::Sizes::count) call.count = size;
  if (traits.sizes == spec::Sizes::counts_per_rank || along_axis) call.counts.resize(n);
  if (traits.sizes == spec::Sizes::counts_per_pair) call.counts.resize(n * n);
  if (traits.sizes == spec::Sizes::counts_per_array) call.counts.resize(4);
  for (std::size_t i = 0; i < call.counts.size(); ++i) {
    call.counts[i] = static_cast<std::int64_t>(i * 7 + 2) % (size + 1);
  }
  if (along_axis) {
    call.outer = size % 4;
    call.inner = size > 0 ? 2 : 0;
    // A reduction needs a row.
    if (spec::axis_length(call) == 0) call.counts.back() = 1;
  } else if (!call.counts.empty()) {
    call.gap = size % 3;
  }
  return call;
}

}  // namespace rankcheck::tests
