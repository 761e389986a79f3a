#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/numerics/fold.hpp"
#include "reference/spec/shapes.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/plan_edits.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"

/// Bugs of operations along an axis of arrays.
namespace rankcheck::cases::audit {

namespace {

using harness::Case;

/// The place of a strip in a joined array: the index before the axis, and the rank that gives it.
struct Strip {
  std::int64_t a = 0;
  int owner = 0;
};

/// The strip that a correct plan writes at this offset of the joined array.
Strip strip_at(const spec::Call& call, std::int64_t offset) {
  const std::int64_t row = offset / call.inner;
  const std::int64_t place = row % axis_length(call);
  int owner = 0;
  while (axis_start(call, owner + 1) <= place) ++owner;
  return {.a = row / axis_length(call), .owner = owner};
}

/// Moves every strip that is written into a result to the offset that `offset_of` says.
void move_strips(const Case& c,
                 Plan& plan,
                 std::int64_t (*offset_of)(const spec::Call& call, const Strip& strip)) {
  const spec::Call call = collective_call(c);
  change(
      plan,
      [](int rank, const Step& step) {
        return moves(rank, step) && step.destination.buffer == Buffer::recv;
      },
      [&](Step& step, std::span<Range>) {
        step.destination.offset = offset_of(call, strip_at(call, step.destination.offset));
      });
}

/// Where a strip lies if whole arrays are put one behind another.
std::int64_t offset_in_row_of_arrays(const spec::Call& call, const Strip& strip) {
  const std::int64_t before = call.outer * axis_start(call, strip.owner);
  return (before + strip.a * block_count(call, strip.owner)) * call.inner;
}

/// Where a strip lies if every rank were as long as rank 0.
std::int64_t offset_of_equal_parts(const spec::Call& call, const Strip& strip) {
  return (strip.a * axis_length(call) + strip.owner * block_count(call, 0)) * call.inner;
}

bool has_elements(const Case& c) {
  return collective(c).outer * collective(c).inner * axis_length(collective_call(c)) > 0;
}

/// Whether equal parts would fit into the result, and be wrong.
bool equal_parts_fit(const Case& c) {
  const spec::Call call = collective_call(c);
  bool differs = false;
  for (int q = 0; q < call.ranks; ++q) {
    if (block_count(call, q) == 0) continue;
    const std::int64_t start = q * block_count(call, 0);
    if (start + block_count(call, q) > axis_length(call)) return false;
    differs = differs || start != axis_start(call, q);
  }
  return differs && has_elements(c);
}

bool is_average(const Case& c) {
  return collective(c).op == spec::ReduceOp::avg;
}

std::int64_t rows_of(const Case& c) {
  return axis_length(collective_call(c));
}

/// The largest number that f16 has.
constexpr std::int64_t f16_max = 65504;

/// A number of rows as f16 holds it. Only for numbers that f16 can hold approximately.
std::int64_t rows_in_f16(std::int64_t rows) {
  std::array<std::byte, 2> rounded{};
  numerics::from_double(spec::Type::f16, static_cast<double>(rows), rounded.data());
  return static_cast<std::int64_t>(numerics::to_double(spec::Type::f16, rounded.data()));
}

void use_divisor(Plan& plan, std::int64_t divisor) {
  for (int& each : plan.divisors) each = static_cast<int>(divisor);
}

/// Replaces each result by the mean of the ranks' means. Ranks without rows have no mean.
void average_means(const Outcome& outcome) {
  const spec::Call call = collective_call(outcome.c());
  const std::int64_t bytes = spec::info(call.type).bytes;
  for_each_output(outcome, [&](int, std::int64_t index, std::byte* element) {
    const std::int64_t a = index / call.inner;
    const std::int64_t b = index % call.inner;
    double sum = 0;
    int means = 0;
    for (int q = 0; q < call.ranks; ++q) {
      const std::int64_t length = block_count(call, q);
      if (length == 0) continue;
      const std::byte* const send =
          outcome.images()[spec::to_size(q)].data() + layout_of(outcome, q).send;
      double own = 0;
      for (std::int64_t j = 0; j < length; ++j) {
        own += numerics::to_double(call.type, send + ((a * length + j) * call.inner + b) * bytes);
      }
      sum += own / static_cast<double>(length);
      ++means;
    }
    numerics::from_double(call.type, sum / means, element);
  });
}

/// Whether two ranks have rows, and not the same number.
bool has_unequal_parts(const Case& c) {
  std::int64_t first = 0;
  for (const std::int64_t count : c.counts) {
    if (count == 0) continue;
    if (first != 0 && count != first) return true;
    first = count;
  }
  return false;
}

constexpr std::array along_axis{
    Bug{.name = "arrays_one_behind_another",
        .summary = "Whole arrays are put one behind another into a result of the right shape.",
        .source = "tike 049448ed",
        .target = {"all_gather_axis", "direct"},
        .hits = has_elements,
        .edit_plan = [](const Case& c,
                        Plan& plan) { move_strips(c, plan, offset_in_row_of_arrays); }},
    Bug{.name = "strips_one_behind_another",
        .summary = "The strips of one rank are put one behind another.",
        .target = {"gather_axis", "direct"},
        .found_by = {"equals_calls_strip_by_strip",
                     "differs from the call for one index before the axis"},
        .hits = has_elements,
        .edit_plan = [](const Case& c,
                        Plan& plan) { move_strips(c, plan, offset_in_row_of_arrays); }},
    Bug{.name = "displacements_of_equal_parts",
        .summary = "The part of rank q is put where it would be if all ranks had the length of "
                   "rank 0.",
        .target = {"gather_axis", "binomial"},
        .found_by = {"equals_gather_of_blocks", "the composition gives another result"},
        .hits = equal_parts_fit,
        .edit_plan = [](const Case& c,
                        Plan& plan) { move_strips(c, plan, offset_of_equal_parts); }},
    Bug{.name = "mean_of_means",
        .summary = "The root averages the means of the ranks, which have different numbers of "
                   "rows.",
        .target = {"reduce_axis", "rows_first"},
        .hits = [](const Case& c) { return is_average(c) && has_unequal_parts(c); },
        .edit_result = average_means},
    Bug{.name = "parts_counted_as_rows",
        .summary = "A mean over all rows is divided by the number of ranks.",
        .source = "tike before 2b001b3f",
        .target = {"reduce_axis", "direct"},
        .hits = is_average,
        .edit_plan = [](const Case&, Plan& plan) { use_divisor(plan, plan.ranks()); }},
    Bug{.name = "lone_rank_not_averaged",
        .summary = "A call on one rank returns the sum of its rows, not the mean.",
        .source = "tike 0.17",
        .target = {"reduce_axis", "rows_first"},
        .hits = [](const Case& c) { return is_average(c) && group_size(c) == 1; },
        .edit_plan = [](const Case&, Plan& plan) { use_divisor(plan, 1); }},
    Bug{.name = "rows_counted_in_f16",
        .summary = "The number of rows is kept in f16, which has not all numbers above 2048.",
        .target = {"reduce_axis", "rows_first"},
        // A rank that leaves takes its rows along. If there are just enough rows, all ranks stay.
        .ranks_max = 8,
        .elements_max = 2100,
        .hits =
            [](const Case& c) {
              return is_average(c) && rows_of(c) <= f16_max &&
                     rows_in_f16(rows_of(c)) != rows_of(c);
            },
        .edit_plan = [](const Case& c, Plan& plan) { use_divisor(plan, rows_in_f16(rows_of(c))); }},
    Bug{.name = "row_of_another_rank_twice",
        .summary = "The last row is left out, and the row before it is taken twice.",
        .target = {"reduce_axis", "direct"},
        .found_by = {"equals_reduce_of_one_row", "the composition gives another result"},
        .hits = [](const Case& c) { return rows_of(c) > 1; },
        .edit_steps = {is_reduce,
                       [](const Case&, Step& step, std::span<Range> sources) {
                         if (step.source_count > 1) sources.back() = sources[sources.size() - 2];
                       }}},
};

}  // namespace

void add_bugs_along_axis(std::vector<Bug>& out) {
  out.insert(out.end(), along_axis.begin(), along_axis.end());
}

}  // namespace rankcheck::cases::audit
