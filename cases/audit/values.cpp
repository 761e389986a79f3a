#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "reference/numerics/fold.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/audit/catalogue.hpp"
#include "cases/audit/result_edits.hpp"
#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases::audit {

namespace {

using harness::Case;
using spec::ReduceOp;
using spec::Type;

template <Type type>
bool has_type(const Case& c) {
  return c.type == type;
}

template <ReduceOp op>
bool has_op(const Case& c) {
  return collective(c).op == op;
}

template <ReduceOp op>
bool has_op_on_floats(const Case& c) {
  return collective(c).op == op && !spec::is_integer(c.type);
}

/// Rounds a float to `bits` bits of significand, to nearest even.
template <int bits>
double rounded(double value, Type) {
  if (!std::isfinite(value)) return value;
  int exponent = 0;
  const double significand = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(significand, bits)), exponent - bits);
}

/// Calls change(bits) with every output, a floating-point number of at most eight bytes.
template <class Change>
void change_bits(const Outcome& outcome, const Change& change) {
  const auto bytes = spec::to_size(spec::info(outcome.c().type).bytes);
  for_each_output(outcome, [&](int, std::int64_t, std::byte* element) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, element, bytes);
    bits = change(bits);
    std::memcpy(element, &bits, bytes);
  });
}

void lose_sign_of_zero(const Outcome& outcome) {
  const std::uint64_t sign = std::uint64_t{1} << (8 * spec::info(outcome.c().type).bytes - 1);
  change_bits(outcome, [&](std::uint64_t bits) { return bits == sign ? 0 : bits; });
}

/// Replaces sums that overflowed by the largest finite number. An infinity stays if an input was
/// not finite.
void saturate_sums(const Outcome& outcome) {
  const spec::TypeInfo& type = spec::info(outcome.c().type);
  const double largest = std::ldexp(2 - std::ldexp(1, 1 - type.precision), type.exponent_max);
  for_each_output(outcome, [&](int, std::int64_t index, std::byte* element) {
    const double sum = numerics::to_double(type.type, element);
    const std::vector<double> inputs = contributions(outcome, index);
    const bool are_finite = std::all_of(
        inputs.begin(), inputs.end(), [](double input) { return std::isfinite(input); });
    if (!std::isinf(sum) || !are_finite) return;
    numerics::from_double(type.type, std::copysign(largest, sum), element);
  });
}

double sum_of(const std::vector<double>& inputs) {
  return std::accumulate(inputs.begin(), inputs.end(), 0.0);
}

double mean_of(const std::vector<double>& inputs) {
  return sum_of(inputs) / static_cast<double>(inputs.size());
}

/// Reduces with another op.
template <ReduceOp op>
void reduce_by(const Outcome& outcome) {
  reduce_again(outcome, {.type = outcome.c().type, .op = op});
}

constexpr std::array bugs_in_values{
    Bug{.name = "wrong_type_width",
        .summary = "f64 values are sent as f32.",
        .target = {"broadcast", "binomial"},
        .hits = has_type<Type::f64>,
        .map = rounded<24>},
    Bug{.name = "int32_travels_as_f32",
        .summary = "int32 values are converted to f32, which has only 24 bits of significand.",
        .target = {"all_to_all", "pairwise"},
        .hits = has_type<Type::int32>,
        .map = rounded<24>},
    Bug{.name = "signalling_nan_quieted",
        .summary =
            "f64 values pass through a floating-point register, which quiets signalling NaNs.",
        .target = {"gather", "binomial"},
        .hits = has_type<Type::f64>,
        .edit_result =
            [](const Outcome& outcome) {
              constexpr std::uint64_t infinity = 0x7ff0000000000000U;
              constexpr std::uint64_t quiet = 0x0008000000000000U;
              change_bits(outcome, [](std::uint64_t bits) {
                const bool is_nan = (bits & infinity) == infinity && (bits << 12) != 0;
                return is_nan ? bits | quiet : bits;
              });
            }},
    Bug{.name = "minus_zero_moved_as_zero",
        .summary = "Data is moved by adding it to 0, which turns -0 into +0.",
        .target = {"scatter", "direct"},
        .hits = has_type<Type::f32>,
        .edit_result = lose_sign_of_zero},
    Bug{.name = "wrong_at_five_ranks",
        .summary = "The table of messages for five ranks has a mistake.",
        .target = {"gather_v", "binomial"},
        .ranks_max = 5,
        .hits = [](const Case& c) { return group_size(c) == 5; },
        .edit_result = flip_first_of_all},
    Bug{.name = "int64_travels_as_f64",
        .summary = "int64 values are converted to double, which has only 53 bits of significand.",
        .target = {"all_to_all_v", "bruck"},
        .found_by = {"returns_by_the_transpose", "the data did not come back unchanged"},
        .hits = has_type<Type::int64>,
        .edit_element =
            [](const Outcome&, int, std::int64_t, std::byte* element) {
              numerics::from_double(
                  Type::int64, numerics::to_double(Type::int64, element), element);
            }},
    Bug{.name = "rounds_to_bf16",
        .summary = "An f32 reduction sends its partial sums as bf16.",
        .source = "tt-metal#37884",
        .target = {"all_reduce", "ring"},
        .hits = has_type<Type::f32>,
        .map = rounded<8>},
    Bug{.name = "subnormals_flushed",
        .summary = "Data passes through arithmetic that flushes subnormal numbers to 0.",
        .target = {"all_gather_v", "bruck"},
        .hits = [](const Case& c) { return !spec::is_integer(c.type); },
        .map =
            [](double value, Type component) {
              const double smallest = std::ldexp(1, spec::info(component).exponent_min);
              return std::abs(value) < smallest ? 0 : value;
            }},
    Bug{.name = "inf_saturated",
        .summary = "Infinity becomes the largest finite number.",
        .target = {"all_reduce", "ring"},
        .map =
            [](double value, Type component) {
              const auto& type = spec::info(component);
              const double largest =
                  std::ldexp(2 - std::ldexp(1, 1 - type.precision), type.exponent_max);
              return std::isinf(value) ? std::copysign(largest, value) : value;
            }},
    Bug{.name = "complex_count_not_doubled",
        .summary = "The count of complex numbers is not doubled, so only half of the real numbers "
                   "are sent.",
        .source = "cupy, NCCLBackend",
        .target = {"all_reduce", "direct"},
        .hits = [](const Case& c) { return spec::is_complex(c.type); },
        .edit_element =
            [](const Outcome& outcome, int rank, std::int64_t index, std::byte* element) {
              const std::int64_t half = spec::info(outcome.c().type).bytes / 2;
              const std::int64_t first = 2 * index;
              if (first + 1 < outcome.c().count) return;
              const bool all = first >= outcome.c().count;
              leave_unwritten(outcome, rank, all ? element : element + half, all ? 2 * half : half);
            }},
    Bug{.name = "nan_dropped",
        .summary = "A sum replaces NaN by 0, which hides a broken rank.",
        .target = {"all_reduce", "ring"},
        .hits = has_op_on_floats<ReduceOp::sum>,
        .map = [](double value, Type) { return std::isnan(value) ? 0 : value; }},
    Bug{.name = "sum_begins_with_zero",
        .summary = "The accumulator starts at +0, so a sum of only -0 becomes +0.",
        .target = {"reduce", "direct"},
        .hits =
            [](const Case& c) {
              return collective(c).op == ReduceOp::sum &&
                     (c.type == Type::f32 || c.type == Type::f16);
            },
        .edit_result = lose_sign_of_zero},
    Bug{.name = "overflow_saturated",
        .summary = "An f16 sum that overflows becomes the largest finite number.",
        .target = {"reduce", "binomial"},
        .without = R"({"input":"exact"})",
        .hits =
            [](const Case& c) { return collective(c).op == ReduceOp::sum && c.type == Type::f16; },
        .edit_result = saturate_sums},
    Bug{.name = "largest_number_becomes_infinite",
        .summary = "An f16 sum that is the largest finite number is rounded to infinity.",
        .target = {"all_reduce", "ring"},
        .cases_min = 20000,
        .without = R"({"input":"exact"})",
        .hits =
            [](const Case& c) {
              return collective(c).op == ReduceOp::sum && c.type == Type::f16 && group_size(c) > 1;
            },
        .map =
            [](double value, Type) {
              constexpr double largest = 65504;
              return std::abs(value) == largest ? std::copysign(HUGE_VAL, value) : value;
            }},
    Bug{.name = "nan_propagated",
        .summary = "min returns NaN, although the contract says that it ignores NaN.",
        .target = {"all_reduce", "ring"},
        .hits = has_op_on_floats<ReduceOp::min>,
        .edit_element =
            [](const Outcome& outcome, int, std::int64_t index, std::byte* element) {
              const double sum = sum_of(contributions(outcome, index));
              if (std::isnan(sum)) numerics::from_double(outcome.c().type, sum, element);
            }},
    Bug{.name = "int_avg_is_zero",
        .summary = "An integer sum is multiplied by 1/n, which is 0 as an integer.",
        .source = "InfiniCCL#37",
        .target = {"all_reduce", "direct"},
        .hits =
            [](const Case& c) {
              return collective(c).op == ReduceOp::avg && spec::is_integer(c.type) &&
                     group_size(c) > 1;
            },
        .map = [](double, Type) { return 0.0; }},
    Bug{.name = "int_avg_floors",
        .summary = "The mean of negative integers is rounded down instead of toward zero.",
        .target = {"all_reduce", "direct"},
        .hits =
            [](const Case& c) {
              return collective(c).op == ReduceOp::avg &&
                     spec::info(c.type).type_class == spec::TypeClass::signed_integer;
            },
        .fold = [](const std::vector<double>& inputs) { return std::floor(mean_of(inputs)); }},
    Bug{.name = "int_avg_accumulates_wide",
        .summary =
            "The sum of an integer mean does not wrap: the mean of {100, 100} in int8 is 100.",
        .target = {"reduce", "binomial"},
        .hits =
            [](const Case& c) {
              return collective(c).op == ReduceOp::avg && spec::is_integer(c.type) &&
                     spec::info(c.type).bytes <= 4;
            },
        .fold = [](const std::vector<double>& inputs) { return std::trunc(mean_of(inputs)); }},
    Bug{.name = "prod_saturates",
        .summary = "An integer product that overflows becomes the largest or smallest number.",
        .target = {"reduce", "direct"},
        .hits =
            [](const Case& c) {
              return collective(c).op == ReduceOp::prod && c.type == Type::int32;
            },
        .fold =
            [](const std::vector<double>& inputs) {
              using Limits = std::numeric_limits<std::int32_t>;
              double product = 1;
              for (const double each : inputs) {
                product = std::clamp<double>(product * each, Limits::min(), Limits::max());
              }
              return product;
            }},
    Bug{.name = "unsigned_compared_as_signed",
        .summary = "uint8 is compared as int8, so 200 is less than 100.",
        .target = {"all_reduce", "ring"},
        .hits =
            [](const Case& c) {
              return (collective(c).op == ReduceOp::min || collective(c).op == ReduceOp::max) &&
                     c.type == Type::uint8;
            },
        .edit_result = [](const Outcome& outcome) { reduce_again(outcome, {.type = Type::int8}); }},
    Bug{.name = "max_starts_from_zero",
        .summary = "The accumulator of max starts at 0, so the maximum of negative numbers is 0.",
        .target = {"reduce", "binomial"},
        .hits = has_op<ReduceOp::max>,
        .map = [](double value, Type) { return value < 0 ? 0 : value; }},
    Bug{.name = "scalar_of_the_next_rank",
        .summary = "premul_sum multiplies each rank's elements by the next rank's scalar.",
        .target = {"all_reduce", "direct"},
        .hits = has_op<ReduceOp::premul_sum>,
        .edit_result =
            [](const Outcome& outcome) {
              reduce_again(outcome, {.type = outcome.c().type, .scalar_of_next = 1});
            }},
    Bug{.name = "accumulator_starts_at_one",
        .summary = "The accumulator is not cleared.",
        .target = {"reduce", "direct"},
        .found_by = {"is_linear", "differs from 2 f(a) + f(b)"},
        .map = [](double value, Type) { return value + 1; }},
    Bug{.name = "bits_ran_as_sum",
        .summary = "Bitwise and, or and exclusive or are passed on as a sum.",
        .source = "torchcomms#2082",
        .target = {"all_reduce", "ring"},
        .hits = [](const Case& c) { return spec::is_bitwise(collective(c).op); },
        .edit_result = reduce_by<ReduceOp::sum>},
    Bug{.name = "xor_ran_as_or",
        .summary = "Bitwise exclusive or is computed as or.",
        .target = {"reduce", "binomial"},
        .hits = has_op<ReduceOp::bxor>,
        .edit_result = reduce_by<ReduceOp::bor>},
    Bug{.name = "and_starts_from_zero",
        .summary = "The accumulator of bitwise and starts at 0, so the result is 0.",
        .target = {"all_reduce", "direct"},
        .hits = has_op<ReduceOp::band>,
        .map = [](double, Type) { return 0.0; }},
    Bug{.name = "truth_not_normalised",
        .summary = "Logical or returns the bits of its true operands instead of 1.",
        .target = {"all_reduce", "ring"},
        .hits = has_op<ReduceOp::lor>,
        .edit_result = reduce_by<ReduceOp::bor>},
    Bug{.name = "truth_taken_bit_by_bit",
        .summary = "Logical and is computed bit by bit, so 1 and 2 are not true.",
        .target = {"reduce", "direct"},
        .ranks_max = 5,
        .hits = has_op<ReduceOp::land>,
        .edit_result =
            [](const Outcome& outcome) {
              reduce_by<ReduceOp::band>(outcome);
              if (group_size(outcome.c()) == 1) return;
              map_values(outcome, [](double value) { return value == 0 ? 0 : 1; });
            }},
    Bug{.name = "truth_of_the_low_half",
        .summary = "The truth of an int64 is taken from its low 32 bits.",
        .target = {"all_reduce", "direct"},
        .cases_min = 20000,
        .hits =
            [](const Case& c) {
              return collective(c).op == ReduceOp::lor && c.type == Type::int64 &&
                     group_size(c) > 1;
            },
        .fold =
            [](const std::vector<double>& inputs) {
              const bool is_true = std::any_of(inputs.begin(), inputs.end(), [](double each) {
                return std::fmod(each, 0x1p32) != 0;
              });
              return is_true ? 1.0 : 0.0;
            }},
    Bug{.name = "last_of_equal_values",
        .summary = "maxloc takes the last of equal values, whatever their indices.",
        .target = {"all_reduce", "ring"},
        .without = R"({"op":"sum"})",
        .hits = has_op<ReduceOp::maxloc>,
        .edit_result =
            [](const Outcome& outcome) {
              locate_again(outcome, [](double value, double best) { return value >= best; });
            }},
    Bug{.name = "least_value_and_least_index",
        .summary =
            "minloc takes the least value and the least index, which may be another value's.",
        .target = {"reduce", "binomial"},
        .without = R"({"op":"sum"})",
        .hits = has_op<ReduceOp::minloc>,
        .edit_result = reduce_by<ReduceOp::min>},
};

}  // namespace

void add_bugs_in_values(std::vector<Bug>& out) {
  out.insert(out.end(), bugs_in_values.begin(), bugs_in_values.end());
}

}  // namespace rankcheck::cases::audit
