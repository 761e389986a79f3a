#include "reference/spec/collective.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "reference/spec/shapes.hpp"
#include "reference/spec/sizes.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::spec {

namespace {

/// Why a call that has no axis cannot have these shapes.
std::optional<std::string> why_not_flat(const Call& call) {
  if (call.outer != 1) return "outer: not a size of this operation";
  if (call.inner != 1) return "inner: not a size of this operation";
  return std::nullopt;
}

/// The most strips that the arrays of a call along an axis may have: one for each index before the
/// axis and each rank, or each row of a reduction. Empty strips have no elements but take memory.
constexpr std::int64_t strips_max = 1 << 24;

/// Why the arrays of a call along an axis cannot have these shapes. The counts are valid.
std::optional<std::string> why_shapes_invalid(const CollectiveTraits& traits, const Call& call) {
  std::int64_t elements = std::max<std::int64_t>(axis_length(call), 1);
  const std::int64_t outer_max = strips_max / call.ranks;
  for (const auto& [name, length, length_max] :
       {std::tuple{"outer", call.outer, outer_max}, {"inner", call.inner, buffer_elements_max}}) {
    const std::int64_t most = std::min(length_max, buffer_elements_max / elements);
    if (length < 0 || length > most) {
      return std::string(name) + ": got " + std::to_string(length) + ", expected 0.." +
             std::to_string(most);
    }
    elements *= std::max<std::int64_t>(length, 1);
  }
  if (!traits.reduces) return std::nullopt;
  const std::int64_t rows = axis_length(call);
  const std::int64_t rows_max = strips_max / std::max<std::int64_t>(call.outer, 1);
  if (rows >= 1 && rows <= rows_max) return std::nullopt;
  return "counts: got a sum of " + std::to_string(rows) + ", expected 1.." +
         std::to_string(rows_max);
}

std::optional<std::string> why_sizes_invalid(const CollectiveTraits& traits, const Call& call) {
  const auto n = to_size(call.ranks);
  const bool pairs = traits.sizes == Sizes::counts_per_pair;
  const bool arrays = traits.sizes == Sizes::counts_per_array;
  const bool uneven = arrays || pairs || traits.sizes == Sizes::counts_per_rank;
  const bool axis = traits.sizes == Sizes::lengths_along_axis;
  // A list may have any number of arrays.
  const std::size_t values =
      arrays ? call.counts.size() : (pairs ? n * n : (uneven || axis ? n : 0));
  if (auto why = why_counts_invalid(call.counts, values)) return why;
  if (auto why = axis ? why_shapes_invalid(traits, call) : why_not_flat(call)) return why;
  if (traits.sizes != Sizes::count && call.count != 0) {
    return "count: not a size of this operation";
  }
  if (call.count < 0) return "count: out of range, got " + std::to_string(call.count);
  if (const auto most = buffer_elements_max / call.ranks; call.count > most) {
    return "count: got " + std::to_string(call.count) + ", expected at most " +
           std::to_string(most);
  }
  const std::int64_t blocks_max = arrays
                                      ? std::max<std::int64_t>(1, static_cast<std::int64_t>(values))
                                      : std::int64_t{call.ranks} * call.ranks;
  if (!uneven && call.gap != 0) return "gap: only counts have gaps";
  const std::int64_t gap_max = buffer_elements_max / blocks_max;
  if (call.gap < 0 || call.gap > gap_max) {
    return "gap: out of range, got " + std::to_string(call.gap);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_invalid(const Contract& contract, const Call& call) {
  const CollectiveTraits& traits = collective(contract);
  if (call.ranks < 1) return "ranks: got " + std::to_string(call.ranks) + ", expected at least 1";
  if (call.root < 0 || call.root >= call.ranks || (!traits.rooted && call.root != 0)) {
    const int last = traits.rooted ? call.ranks - 1 : 0;
    return "root: got " + std::to_string(call.root) + ", expected 0.." + std::to_string(last);
  }
  if (traits.reduces != (call.op != ReduceOp::none)) {
    return traits.reduces
               ? R"(op: got none, expected one, as in {"op":"sum"})"
               : "op: got " + std::string(name(call.op)) + ", this operation does not reduce";
  }
  if (!is_defined(call.op, call.type)) {
    return "op: " + std::string(name(call.op)) + " is not defined for type " +
           std::string(name(call.type));
  }
  return why_sizes_invalid(traits, call);
}

std::int64_t terms(const Contract& contract, const Call& call) {
  return collective(contract).sizes == Sizes::lengths_along_axis ? axis_length(call) : call.ranks;
}

Extents extents_of(const Contract& contract, const Call& call, int rank) {
  Extents extents;
  fill_extents(contract, call, rank, extents);
  return extents;
}

void mirror_counts(const Contract& contract, int ranks, std::vector<std::int64_t>& counts) {
  if (collective(contract).sizes != Sizes::counts_per_pair) return;
  for (int r = 0; r < ranks; ++r) {
    for (int q = 0; q < r; ++q) counts[to_size(r * ranks + q)] = counts[to_size(q * ranks + r)];
  }
}

std::int64_t append_even(std::vector<Block>& out, int blocks, std::int64_t count) {
  out.reserve(out.size() + to_size(blocks));
  for (int b = 0; b < blocks; ++b) out.push_back({b * count, count});
  return blocks * count;
}

std::int64_t append_uneven(
    std::vector<Block>& out, const Call& call, int first, int stride, int n) {
  out.reserve(out.size() + to_size(n));
  std::int64_t offset = 0;
  for (int i = 0; i < n; ++i) {
    const std::int64_t count = call.counts[to_size(first + i * stride)];
    out.push_back({offset, count});
    offset += count + call.gap;
  }
  return offset;
}

std::int64_t append_arrays(std::vector<Block>& out, const Call& call) {
  return append_uneven(out, call, 0, 1, static_cast<int>(call.counts.size()));
}

}  // namespace rankcheck::spec
