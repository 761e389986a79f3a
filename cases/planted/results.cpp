#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/numerics/fold.hpp"

#include "cases/planted/catalogue.hpp"
#include "cases/planted/spoils.hpp"

namespace rankcheck::cases::planted {

namespace {

using harness::Verdict;
using spec::ReduceOp;
using spec::Type;

/// A float that has only `bits` of its significand left, rounded to nearest even.
template <int bits>
double rounded(double value) {
  if (!std::isfinite(value)) return value;
  int exponent = 0;
  const double significand = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, bits)), exponent - bits);
}

bool is_signed(Type type) {
  return spec::info(type).type_class == spec::TypeClass::signed_integer;
}

/// Replaces every output of a reduction by what `fold` makes of its inputs as doubles.
void fold_again(const Outcome& outcome, double (*fold)(const std::vector<double>& values)) {
  for_each_output(outcome, [&](int, std::int64_t index, std::byte* element) {
    numerics::from_double(outcome.c().type, fold(contributions(outcome, index)), element);
  });
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

constexpr std::array values{
    Bug{.name = "low_bit_flipped",
        .summary = "one rank's result differs from the others' in the last bit",
        .operation = "all_reduce",
        .algorithm = "ring",
        .property = "ranks_agree_bitwise",
        .says = "differs from rank 0",
        .spoil = [](const Outcome& outcome) { flip_first(outcome, 1); }},
    Bug{.name = "wrong_type_width",
        .summary = "f64 travels as f32",
        .operation = "broadcast",
        .algorithm = "binomial",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().type == Type::f64) map_values(outcome, rounded<24>);
            }},
    Bug{.name = "int64_travels_as_f64",
        .summary = "int64 passes through a double, which has 53 bits",
        .operation = "all_to_all_v",
        .algorithm = "bruck",
        .property = "returns_by_the_transpose",
        .says = "the data did not return",
        .spoil =
            [](const Outcome& outcome) {
              const Type type = outcome.c().type;
              if (type != Type::int64) return;
              for_each_output(outcome, [&](int, std::int64_t, std::byte* element) {
                numerics::from_double(type, numerics::to_double(type, element), element);
              });
            }},
    Bug{.name = "rounds_to_bf16",
        .summary = "an f32 reduction passes its partial sums on as bf16",
        .source = "tt-metal#37884",
        .operation = "all_reduce",
        .algorithm = "ring",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().type == Type::f32) map_values(outcome, rounded<8>);
            }},
    Bug{.name = "subnormals_flushed",
        .summary = "data passes through arithmetic that flushes subnormal numbers to zero",
        .operation = "all_gather_v",
        .algorithm = "bruck",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const auto& type = spec::info(spec::component(outcome.c().type));
              const double smallest = std::ldexp(1, type.exponent_min);
              map_values(outcome, [&](double value) {
                return std::abs(value) < smallest && !spec::is_integer(type.type) ? 0 : value;
              });
            }},
    Bug{.name = "nan_dropped",
        .summary = "a sum leaves NaN out and hides that a rank is broken",
        .operation = "all_reduce",
        .algorithm = "ring",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().op != ReduceOp::sum || spec::is_integer(outcome.c().type)) return;
              map_values(outcome, [](double value) { return std::isnan(value) ? 0 : value; });
            }},
    Bug{.name = "nan_propagated",
        .summary = "min returns NaN where it is declared to leave NaN out",
        .operation = "all_reduce",
        .algorithm = "ring",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const Type type = outcome.c().type;
              if (outcome.c().op != ReduceOp::min || spec::is_integer(type)) return;
              for_each_output(outcome, [&](int, std::int64_t index, std::byte* element) {
                const double sum = sum_of(contributions(outcome, index));
                if (std::isnan(sum)) numerics::from_double(type, sum, element);
              });
            }},
    Bug{.name = "inf_saturated",
        .summary = "infinity becomes the largest finite number",
        .operation = "all_reduce",
        .algorithm = "ring",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const auto& type = spec::info(spec::component(outcome.c().type));
              const double largest =
                  std::ldexp(2 - std::ldexp(1, 1 - type.precision), type.exponent_max);
              map_values(outcome, [&](double value) {
                return std::isinf(value) ? std::copysign(largest, value) : value;
              });
            }},
    Bug{.name = "complex_count_not_doubled",
        .summary = "complex numbers are sent as half as many real ones as there are",
        .source = "cupy, NCCLBackend",
        .operation = "all_reduce",
        .algorithm = "direct",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              if (!spec::is_complex(outcome.c().type)) return;
              const std::int64_t half = spec::info(outcome.c().type).bytes / 2;
              for_each_output(outcome, [&](int rank, std::int64_t index, std::byte* element) {
                const std::int64_t first = 2 * index;
                if (first + 1 < outcome.c().count) return;
                const bool all = first >= outcome.c().count;
                leave_unwritten(
                    outcome, rank, all ? element : element + half, all ? 2 * half : half);
              });
            }},
    Bug{.name = "int_avg_is_zero",
        .summary = "an integer is multiplied by 1/n, which is 0 as an integer",
        .source = "InfiniCCL#37",
        .operation = "all_reduce",
        .algorithm = "direct",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const auto& c = outcome.c();
              if (c.op != ReduceOp::avg || !spec::is_integer(c.type) || group_size(c) < 2) return;
              map_values(outcome, [](double) { return 0.0; });
            }},
    Bug{.name = "int_avg_floors",
        .summary = "the mean of negative integers is rounded down instead of toward zero",
        .operation = "all_reduce",
        .algorithm = "direct",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const auto& c = outcome.c();
              if (c.op != ReduceOp::avg || !is_signed(c.type)) return;
              fold_again(outcome, [](const std::vector<double>& inputs) {
                return std::floor(sum_of(inputs) / static_cast<double>(inputs.size()));
              });
            }},
    Bug{.name = "int_avg_accumulates_wide",
        .summary = "the sum under an integer mean does not wrap: {100, 100} of int8 is 100",
        .operation = "reduce",
        .algorithm = "binomial",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const auto& c = outcome.c();
              const bool wraps = spec::is_integer(c.type) && spec::info(c.type).bytes <= 4;
              if (c.op != ReduceOp::avg || !wraps) return;
              fold_again(outcome, [](const std::vector<double>& inputs) {
                return std::trunc(sum_of(inputs) / static_cast<double>(inputs.size()));
              });
            }},
    Bug{.name = "prod_saturates",
        .summary = "an integer product that overflows becomes the largest number",
        .operation = "reduce",
        .algorithm = "direct",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const auto& c = outcome.c();
              if (c.op != ReduceOp::prod || c.type != Type::int32) return;
              fold_again(outcome, [](const std::vector<double>& inputs) {
                using Limits = std::numeric_limits<std::int32_t>;
                double product = 1;
                for (const double each : inputs) {
                  product = std::clamp<double>(product * each, Limits::min(), Limits::max());
                }
                return product;
              });
            }},
    Bug{.name = "unsigned_compared_as_signed",
        .summary = "uint8 is compared as int8: 200 is less than 100",
        .operation = "all_reduce",
        .algorithm = "ring",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const bool compares =
                  outcome.c().op == ReduceOp::min || outcome.c().op == ReduceOp::max;
              if (!compares || outcome.c().type != Type::uint8) return;
              reduce_again(outcome, {.type = Type::int8});
            }},
    Bug{.name = "max_starts_from_zero",
        .summary = "the maximum of negative numbers is the 0 that the accumulator began with",
        .operation = "reduce",
        .algorithm = "binomial",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().op != ReduceOp::max) return;
              map_values(outcome, [](double value) { return value < 0 ? 0 : value; });
            }},
    Bug{.name = "scalar_of_the_next_rank",
        .summary = "premul_sum multiplies each rank's elements by its neighbour's scalar",
        .operation = "all_reduce",
        .algorithm = "direct",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().op != ReduceOp::premul_sum) return;
              reduce_again(outcome, {.type = outcome.c().type, .scalar_of_next = 1});
            }},
    Bug{.name = "accumulator_starts_at_one",
        .summary = "the accumulator is not cleared",
        .operation = "reduce",
        .algorithm = "direct",
        .property = "is_linear",
        .says = "differs from 2 f(a) + f(b)",
        .spoil =
            [](const Outcome& outcome) {
              map_values(outcome, [](double value) { return value + 1; });
            }},
};

constexpr std::array memory{
    Bug{.name = "guard_overwritten",
        .summary = "a vectorised store writes one byte past the end of the output",
        .operation = "reduce_scatter",
        .algorithm = "ring",
        .says = "past the end of recv",
        .spoil =
            [](const Outcome& outcome) {
              const harness::ImageLayout layout = layout_of(outcome, 0);
              const std::int64_t end = layout.recv + layout.recv_size;
              outcome.images()[0][static_cast<std::size_t>(end)] ^= std::byte{1};
            }},
    Bug{.name = "gap_written",
        .summary = "blocks are copied with the unused elements behind them",
        .operation = "all_gather_v",
        .algorithm = "direct",
        .says = "no part of the output, was written",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().gap == 0) return;
              for (int r = 0; r < group_size(outcome.c()); ++r) {
                const harness::ImageLayout layout = layout_of(outcome, r);
                const spec::Block& last = layout.extents.recv.back();
                const std::int64_t end = last.offset + last.count;
                const std::int64_t at = layout.recv + end * spec::info(outcome.c().type).bytes;
                outcome.images()[static_cast<std::size_t>(r)][static_cast<std::size_t>(at)] ^=
                    std::byte{1};
              }
            }},
    Bug{.name = "misaligned_start_skipped",
        .summary = "a vectorised copy begins at the next aligned address",
        .operation = "broadcast",
        .algorithm = "chain",
        .says = "differs from the reference",
        .spoil =
            [](const Outcome& outcome) {
              const std::int64_t bytes = spec::info(outcome.c().type).bytes;
              const std::int64_t skipped = (4 - outcome.c().offset % 4) % 4;
              for_each_output(outcome, [&](int rank, std::int64_t index, std::byte* element) {
                if (index < skipped) leave_unwritten(outcome, rank, element, bytes);
              });
            }},
    Bug{.name = "chunks_of_256_swapped",
        .summary = "two chunks of 256 elements change places: a fill of period 256 cannot show it",
        .source = "rccl, TestBed",
        .operation = "broadcast",
        .algorithm = "binomial",
        .says = "element 256 of rank 0",
        .elements_max = 512,
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().count < 512) return;
              const std::int64_t size = 256 * spec::info(outcome.c().type).bytes;
              for_each_output(outcome, [&](int, std::int64_t index, std::byte* element) {
                if (index == 0) std::swap_ranges(element, element + size, element + size);
              });
            }},
    Bug{.name = "stale_result",
        .summary = "a result is cached by its size: a call returns what the one before returned",
        .operation = "reduce",
        .algorithm = "binomial",
        .property = "is_linear",
        .says = "differs from 2 f(a) + f(b)",
        .spoil =
            [](const Outcome& outcome) {
              std::vector<harness::Image> result = outcome.images();
              for_each_output(outcome, [&](int rank, std::int64_t, std::byte* element) {
                const auto r = static_cast<std::size_t>(rank);
                if (outcome.kept.size() != result.size()) return;
                if (outcome.kept[r].size() != result[r].size()) return;
                const std::int64_t at = element - outcome.images()[r].data();
                std::copy_n(
                    outcome.kept[r].data() + at, spec::info(outcome.c().type).bytes, element);
              });
              outcome.kept = std::move(result);
            }},
};

constexpr std::array behaviour{
    Bug{.name = "differs_in_place",
        .summary = "in place the order of additions is another one",
        .operation = "all_reduce",
        .algorithm = "binomial_tree",
        .property = "in_place_equals_out_of_place",
        .says = "in place differs from out of place",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().in_place) flip_first_of_all(outcome);
            }},
    Bug{.name = "depends_on_group_order",
        .summary = "the result is right for groups in rising or falling order only",
        .operation = "reduce_scatter",
        .algorithm = "recursive_halving",
        .property = "rank_permutation",
        .says = "the reordered group gives another result",
        .spoil =
            [](const Outcome& outcome) {
              const std::vector<int>& group = outcome.c().group;
              const bool rises = std::is_sorted(group.begin(), group.end());
              const bool falls = std::is_sorted(group.rbegin(), group.rend());
              if (!rises && !falls) flip_first_of_all(outcome);
            }},
    Bug{.name = "whole_differs_from_parts",
        .summary = "the tail of a buffer of several elements takes another code path",
        .operation = "scatter",
        .algorithm = "binomial",
        .property = "splits",
        .says = "the whole differs from its back part",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().count > 1) flip_last_of_all(outcome);
            }},
    Bug{.name = "second_run_differs",
        .summary = "what a call leaves behind changes the next one",
        .operation = "all_gather",
        .algorithm = "bruck",
        .property = "is_deterministic",
        .says = "the second run differs from the first",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.stage > 0) flip_first(outcome, 0);
            }},
    Bug{.name = "sometimes_wrong",
        .summary = "every third run goes wrong",
        .operation = "all_to_all",
        .algorithm = "bruck",
        .verdict = Verdict::flaky,
        .says = "replays",
        .ranks_max = 8,
        .elements_max = 4096,
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.runs % 3 == 2) flip_first(outcome, 0);
            }},
    Bug{.name = "crash",
        .summary = "more than one element ends the process",
        .operation = "send_recv",
        .algorithm = "direct",
        .verdict = Verdict::crashed,
        .says = "signal 11",
        .spoil =
            [](const Outcome& outcome) {
              if (outcome.c().count < 2) return;
              outcome.observation.status = harness::RunStatus::crashed;
              outcome.observation.reason = "rank 0 was ended by signal 11";
            }},
    Bug{.name = "silent_fallback",
        .summary = "another algorithm runs than the one that was asked for",
        .operation = "all_gather",
        .algorithm = "ring",
        .says = "asked for algorithm ring, ran direct",
        .spoil =
            [](const Outcome& outcome) { outcome.observation.path[outcome.stage] = "direct"; }},
    Bug{.name = "barrier_returns_early",
        .summary = "rank 0 leaves before the last rank has entered",
        .operation = "barrier",
        .algorithm = "dissemination",
        .property = "separates_ranks",
        .says = "rank 0 left before rank",
        .spoil =
            [](const Outcome& outcome) {
              auto& stamps = outcome.observation.stages[outcome.stage].stamps;
              if (stamps.size() > 1) stamps.front().left = stamps.back().entered - 1;
            }},
};

}  // namespace

void add_bugs_in_results(std::vector<Bug>& out) {
  out.insert(out.end(), values.begin(), values.end());
  out.insert(out.end(), memory.begin(), memory.end());
  out.insert(out.end(), behaviour.begin(), behaviour.end());
}

}  // namespace rankcheck::cases::planted
