#include "cases/families/collectives/inputs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "reference/registry.hpp"
#include "reference/spec/shapes.hpp"
#include "reference/spec/to_size.hpp"

#include "cases/families/collectives/case.hpp"

namespace rankcheck::cases {

namespace {

using harness::CounterHash;
using harness::group_size;
using harness::source_rank;
using spec::ReduceOp;
using spec::Type;
using spec::TypeInfo;

/// Index in a hash stream that belongs to no element.
constexpr std::uint64_t scalar_index = std::uint64_t{1} << 62;

void store(std::uint64_t bits, int bytes, std::byte* out) {
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(out, &bits, spec::to_size(bytes));
}

/// Stores bits_of(i) for each i in [begin, end) as a component of so many bytes.
template <std::size_t bytes, typename BitsOf>
void store_each(std::uint64_t begin, std::uint64_t end, const BitsOf& bits_of, std::byte* out) {
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint64_t bits = bits_of(i);
    std::memcpy(out, &bits, bytes);
    out += bytes;
  }
}

/// Copies of a known size need no call of a function.
template <typename BitsOf>
void store_each(
    int bytes, std::uint64_t begin, std::uint64_t end, const BitsOf& bits_of, std::byte* out) {
  switch (bytes) {
    case 1:
      return store_each<1>(begin, end, bits_of, out);
    case 2:
      return store_each<2>(begin, end, bits_of, out);
    case 4:
      return store_each<4>(begin, end, bits_of, out);
    default:
      return store_each<8>(begin, end, bits_of, out);
  }
}

int fraction_bits(const TypeInfo& type) {
  return type.precision - 1;
}

std::uint64_t sign_bit(const TypeInfo& type) {
  return std::uint64_t{1} << (8 * type.bytes - 1);
}

/// The bits of +infinity: the largest exponent field with a zero fraction.
std::uint64_t exponent_mask(const TypeInfo& type) {
  return sign_bit(type) - (std::uint64_t{1} << fraction_bits(type));
}

/// The bits of significand * 2^exponent, if the type represents this value exactly.
std::uint64_t exact_float(const TypeInfo& type, std::int64_t significand, int exponent) {
  if (significand == 0) return 0;
  const std::uint64_t sign = significand < 0 ? sign_bit(type) : 0;
  auto magnitude = static_cast<std::uint64_t>(significand < 0 ? -significand : significand);
  const int zeros = std::countr_zero(magnitude);
  magnitude >>= zeros;
  const auto width = static_cast<int>(std::bit_width(magnitude));
  const int top = exponent + zeros + width - 1;
  magnitude <<= type.precision - width;
  const int field = top - type.exponent_min + 1;
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << fraction_bits(type)) - 1);
  return sign | (static_cast<std::uint64_t>(field) << fraction_bits(type)) | fraction;
}

/// The bits of a small whole number in any type except complex types.
std::uint64_t whole(const TypeInfo& type, std::int64_t value) {
  if (type.type_class == spec::TypeClass::floating) return exact_float(type, value, 0);
  return static_cast<std::uint64_t>(value);
}

/// The whole number that a float or integer of the type holds; empty if the value is no whole
/// number.
std::optional<std::int64_t> whole_of(const TypeInfo& type, const std::byte* element) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, element, spec::to_size(type.bytes));
  if (type.type_class == spec::TypeClass::signed_integer) {
    const int unused = 64 - 8 * type.bytes;
    return static_cast<std::int64_t>(bits << unused) >> unused;
  }
  if (type.type_class == spec::TypeClass::unsigned_integer) return static_cast<std::int64_t>(bits);
  const bool negative = (bits & sign_bit(type)) != 0;
  bits &= sign_bit(type) - 1;
  if (bits == 0) return 0;
  const int field = static_cast<int>(bits >> fraction_bits(type));
  const int exponent = field - 1 + type.exponent_min - fraction_bits(type);
  std::uint64_t significand = bits & ((std::uint64_t{1} << fraction_bits(type)) - 1);
  significand |= std::uint64_t{1} << fraction_bits(type);
  if (field == 0 || exponent > 62 - type.precision) return std::nullopt;
  if (exponent < 0) {
    if (-exponent > 62 || std::countr_zero(significand) < -exponent) return std::nullopt;
    significand >>= -exponent;
  } else {
    significand <<= exponent;
  }
  const auto value = static_cast<std::int64_t>(significand);
  return negative ? -value : value;
}

/// The whole number with the opposite bits in an integer type.
std::int64_t complement(const TypeInfo& type, std::int64_t value) {
  if (type.type_class != spec::TypeClass::unsigned_integer || type.bytes == 8) return ~value;
  return ~value & ((std::int64_t{1} << (8 * type.bytes)) - 1);
}

/// Sums may reach magnitudes of 2^sum_bits: 2^precision for floats, at most 2^53. Larger sums of
/// integers wrap.
int sum_bits(const TypeInfo& type) {
  return std::min(type.precision, 53);
}

/// The largest magnitude of an exact summand for n ranks. If the type has enough bits, this leaves
/// room for a scalar of 2, a scale of 2 and an added seed.
std::int64_t exact_limit(const TypeInfo& type, int n) {
  const std::int64_t room = (std::int64_t{1} << sum_bits(type)) / (8 * std::int64_t{n});
  return std::clamp<std::int64_t>(room, 1, 1 << 20);
}

/// Number of base-8 digits in a coded sum. Each digit belongs to one rank.
int coded_digits(const TypeInfo& type) {
  return std::max(1, sum_bits(type) / 3);
}

/// What the inputs of one rank have in common. Blocks have many elements, so it is computed once
/// for a block.
struct Source {
  Source(const Case& of, int of_rank)
      : c(of),
        type(spec::info(spec::component(of.type))),
        op(collective(of).op),
        rank(of_rank),
        hash(of.data_seed, static_cast<std::uint64_t>(of_rank)),
        turn(of.data_seed, std::uint64_t{1} << 32),
        exact_values(static_cast<std::uint64_t>(exact_limit(type, of.ranks)) + 1),
        coded_groups(
            static_cast<std::uint64_t>((of.ranks + coded_digits(type) - 1) / coded_digits(type))),
        coded_group(static_cast<std::uint64_t>(of_rank / coded_digits(type))),
        coded_shift(3 * (of_rank % coded_digits(type))) {}

  const Case& c;
  /// A complex type's component.
  const TypeInfo& type;
  ReduceOp op;
  int rank;
  CounterHash hash;
  /// The same stream for all ranks, which gives them their order.
  CounterHash turn;
  /// The number of magnitudes of exact summands.
  std::uint64_t exact_values;
  /// Number of groups of ranks. An element shows the codes of one group; elements take the groups
  /// in turn.
  std::uint64_t coded_groups;
  std::uint64_t coded_group;
  /// The place of the rank's digit, in bits.
  int coded_shift;
};

/// The digit 1..3 that a rank adds at its place, or 0 if this element does not show the rank.
int coded_digit(const Source& source, std::uint64_t index) {
  if (index % source.coded_groups != source.coded_group) return 0;
  return 1 + static_cast<int>(source.hash(index) % 3);
}

std::int64_t coded_sum_value(const Source& source, std::uint64_t index) {
  return std::int64_t{coded_digit(source, index)} << source.coded_shift;
}

/// The number or its opposite. Unsigned types have no opposites.
std::int64_t with_sign(const TypeInfo& type, std::int64_t number, std::uint64_t hash) {
  const bool is_unsigned = type.type_class == spec::TypeClass::unsigned_integer;
  return !is_unsigned && (hash >> 63) != 0 ? -number : number;
}

/// The sign bit or 0.
std::uint64_t drawn_sign(const TypeInfo& type, std::uint64_t hash) {
  return (hash >> 63) != 0 ? sign_bit(type) : 0;
}

/// A small whole number.
std::int64_t exact_value(const Source& source, std::uint64_t hash) {
  return with_sign(source.type, static_cast<std::int64_t>(hash % source.exact_values), hash);
}

/// The most factors of 2 in a product of exact inputs, if each rank has one factor.
int factors_max(const TypeInfo& type) {
  return std::min(8, type.precision - 1);
}

/// Powers of two with random signs. Their product over the ranks is at most 2^8, and at most
/// 2^(precision - 1).
std::int64_t exact_factor(
    const TypeInfo& type, int ranks, int rank, std::uint64_t index, std::uint64_t hash) {
  const auto n = static_cast<std::uint64_t>(ranks);
  const auto twos = static_cast<std::uint64_t>(factors_max(type));
  const std::int64_t magnitude = (static_cast<std::uint64_t>(rank) + index) % n < twos ? 2 : 1;
  return with_sign(type, magnitude, hash);
}

/// A float with a full random significand, exponent `top` and a random sign.
std::uint64_t random_float(const TypeInfo& type, int top, std::uint64_t hash) {
  const std::uint64_t fraction = hash & ((std::uint64_t{1} << fraction_bits(type)) - 1);
  const int exponent = top - type.exponent_min + 1;
  const auto field = static_cast<std::uint64_t>(exponent);
  return drawn_sign(type, hash) | (field << fraction_bits(type)) | fraction;
}

/// A factor whose magnitude is close to 1, so that the product over all ranks is close to 1, too.
std::uint64_t general_factor(const TypeInfo& type, int ranks, std::uint64_t hash) {
  const std::int64_t one = std::int64_t{1} << fraction_bits(type);
  const std::int64_t spread = std::max<std::int64_t>(1, one / (2 * std::int64_t{ranks}));
  const auto step = static_cast<std::int64_t>((hash >> 8) % static_cast<std::uint64_t>(spread + 1));
  const bool above = (hash & 1) != 0;
  const std::int64_t significand = above ? one + step : 2 * one - step;
  const int exponent = above ? -fraction_bits(type) : -fraction_bits(type) - 1;
  return exact_float(type, with_sign(type, significand, hash), exponent);
}

/// Ranks 2k and 2k + 1 hold opposite values whose magnitudes differ only in the low bits.
std::uint64_t cancelling_float(const Source& source, std::uint64_t index, std::uint64_t hash) {
  const CounterHash pair(source.c.data_seed,
                         static_cast<std::uint64_t>(source.rank / 2) + (1U << 20));
  const std::uint64_t sign = sign_bit(source.type);
  std::uint64_t bits = random_float(source.type, 3, pair(index)) & (sign - 1);
  bits ^= hash & 3;
  return source.rank % 2 == 0 ? bits : bits | sign;
}

/// A float with an exponent from the whole range that leaves room for the sum over all ranks.
std::uint64_t wide_range_float(const TypeInfo& type, std::uint64_t hash) {
  const int highest = type.exponent_max - 9;
  const int lowest = type.exponent_min;
  const int exponents = highest - lowest + 1;
  const int top = lowest + static_cast<int>((hash >> 40) % static_cast<std::uint64_t>(exponents));
  return random_float(type, top, hash ^ (hash << 17));
}

/// The turn of a rank: at every index, all ranks have different numbers from 0 on.
std::int64_t coded_order(const Source& source, std::uint64_t index) {
  const auto n = static_cast<std::uint64_t>(source.c.ranks);
  const auto rank = static_cast<std::uint64_t>(source.rank);
  return static_cast<std::int64_t>((rank + source.turn(index)) % n);
}

/// The same, as far as floats of the type can count.
std::int64_t coded_extremum(const Source& source, std::uint64_t index) {
  const std::int64_t order = coded_order(source, index);
  if (source.type.type_class != spec::TypeClass::floating) return order;
  return order % (std::int64_t{1} << source.type.precision);
}

/// For sums at the edge of overflow. The sum over the world is at most two steps below the largest
/// number, this number itself, or one step beyond it. All ranks have the same sign and whole
/// numbers of steps, so that no order of evaluation rounds or overflows before the last step.
std::uint64_t edge_float(const Source& source, std::uint64_t index) {
  const TypeInfo& type = source.type;
  const std::int64_t largest = (std::int64_t{1} << type.precision) - 1;
  const std::int64_t n = source.c.ranks;
  const std::int64_t turn = coded_order(source, index);
  const CounterHash shared(source.c.data_seed, std::uint64_t{1} << 33);
  const std::uint64_t hash = shared(index);
  std::int64_t steps = largest / n + (turn < largest % n ? 1 : 0);
  if (turn == 0) steps += static_cast<std::int64_t>(hash % 4) - 2;
  // A single rank cannot hold a number beyond the largest one.
  steps = std::min(steps, largest);
  const int step = type.exponent_max - fraction_bits(type);
  return exact_float(type, with_sign(type, steps, hash), step);
}

/// The other values in both kinds of special inputs. In products they are 1 or -1, because other
/// values would underflow.
std::uint64_t ordinary_float(const TypeInfo& type, ReduceOp op, std::uint64_t hash) {
  if (op == ReduceOp::prod) return exact_float(type, with_sign(type, 1, hash), 0);
  return random_float(type, -1 - static_cast<int>((hash >> 48) % 4), hash);
}

std::uint64_t special_float(const TypeInfo& type, ReduceOp op, std::uint64_t hash) {
  const std::uint64_t sign = drawn_sign(type, hash);
  const std::uint64_t fraction = (std::uint64_t{1} << fraction_bits(type)) - 1;
  const std::uint64_t infinity = exponent_mask(type);
  switch ((hash >> 32) % 16) {
    case 0:
      return sign;
    case 1:
      return sign | infinity;
    case 2:
      return sign | infinity | (std::uint64_t{1} << (fraction_bits(type) - 1)) |
             (hash & (fraction >> 1));
    case 3:
      return op == ReduceOp::prod ? sign : sign | (hash & fraction);
    case 4:
      if (op == ReduceOp::min || op == ReduceOp::max) return sign | (infinity - 1);
      break;
    default:
      break;
  }
  return ordinary_float(type, op, hash);
}

/// For moved data: takes eight special values in turn. At one index, the ranks have different
/// values.
std::uint64_t each_special_move(const TypeInfo& type,
                                int rank,
                                std::uint64_t index,
                                std::uint64_t hash) {
  const std::uint64_t sign = drawn_sign(type, hash);
  const std::uint64_t infinity = exponent_mask(type);
  const std::uint64_t quiet = std::uint64_t{1} << (fraction_bits(type) - 1);
  const std::uint64_t payload = 1 + hash % (quiet - 1);
  switch ((static_cast<std::uint64_t>(rank) + index) % special_values) {
    case 0:
      return sign_bit(type);
    case 1:
      return infinity;
    case 2:
      return sign_bit(type) | infinity;
    case 3:
      return sign | (1 + hash % (2 * quiet - 1));
    case 4:
      return sign | infinity | quiet | payload;
    case 5:
      return sign | infinity | payload;
    case 6:
      return sign | (infinity - 1);
    default:
      return ordinary_float(type, ReduceOp::none, hash);
  }
}

/// For reductions: takes eight cases in turn. At one index, all ranks have the same case, and one
/// rank, in turn, may have another value. There are no signalling NaNs: it depends on the machine
/// whether arithmetic drops them.
std::uint64_t each_special_term(const Source& source, std::uint64_t index, std::uint64_t hash) {
  const TypeInfo& type = source.type;
  const std::uint64_t sign = drawn_sign(type, hash);
  const std::uint64_t negative = sign_bit(type);
  const std::uint64_t infinity = exponent_mask(type);
  const std::uint64_t quiet = std::uint64_t{1} << (fraction_bits(type) - 1);
  const std::uint64_t turn = source.c.data_seed + index / special_values;
  const auto n = static_cast<std::uint64_t>(source.c.ranks);
  const auto rank = static_cast<std::uint64_t>(source.rank);
  const bool is_first = rank == turn % n;
  const bool is_second = rank == (turn + 1) % n;
  const std::uint64_t ordinary = ordinary_float(type, source.op, hash);
  switch (index % special_values) {
    case 0:
      return negative;
    case 1:
      return is_first ? infinity : ordinary;
    case 2:
      return is_first ? negative | infinity : ordinary;
    case 3:
      // A product of two subnormal numbers would be 0.
      if (source.op == ReduceOp::prod && !is_first) return ordinary;
      return sign | (1 + hash % (2 * quiet - 1));
    case 4:
      return is_first ? sign | infinity | quiet | (1 + hash % (quiet - 1)) : ordinary;
    case 5:
      if (is_first) return infinity;
      return is_second ? negative | infinity : ordinary;
    case 6:
      return (turn % 2 != 0 ? negative : 0) | (infinity - 1);
    default:
      return is_first ? 0 : negative;
  }
}

std::uint64_t special_integer(const TypeInfo& type, std::uint64_t hash) {
  const std::uint64_t highest_bit = std::uint64_t{1} << (8 * type.bytes - 1);
  const std::array<std::uint64_t, 6> values{
      0, 1, ~std::uint64_t{0}, highest_bit, highest_bit - 1, highest_bit + 1};
  return values[hash % values.size()];
}

/// A value that identifies (rank, index): exactly if the type is wide enough for both, otherwise by
/// a hash of both.
std::uint64_t coded_move(const TypeInfo& type, int rank, std::uint64_t index, std::uint64_t hash) {
  if (type.bytes < 4) return hash >> 7;
  const int index_bits = type.precision >= 53 ? 32 : 17;
  const std::uint64_t position = index & ((std::uint64_t{1} << index_bits) - 1);
  const std::uint64_t code = (static_cast<std::uint64_t>(rank) << index_bits) | position;
  const bool is_floating = type.type_class == spec::TypeClass::floating;
  if (is_floating && (code >> type.precision) != 0) return hash >> 7;
  return whole(type, static_cast<std::int64_t>(code));
}

std::uint64_t move_bits(const Source& source, std::uint64_t index, std::uint64_t hash) {
  const TypeInfo& type = source.type;
  switch (source.c.input) {
    case InputKind::coded:
      return coded_move(type, source.rank, index, hash);
    case InputKind::exact:
      return whole(type, exact_value(source, hash));
    case InputKind::each_special:
      return each_special_move(type, source.rank, index, hash);
    case InputKind::special:
      return type.type_class == spec::TypeClass::floating ? special_float(type, ReduceOp::max, hash)
                                                          : special_integer(type, hash);
    default:
      return hash;
  }
}

/// Whether every component is its hash.
bool is_plain(const Source& source) {
  if (source.op != ReduceOp::none) return false;
  switch (source.c.input) {
    case InputKind::coded:
    case InputKind::exact:
    case InputKind::each_special:
    case InputKind::special:
      return false;
    default:
      return true;
  }
}

std::int64_t exact_whole(const Source& source, std::uint64_t index, std::uint64_t hash) {
  const Case& c = source.c;
  if (source.op == ReduceOp::prod) {
    return exact_factor(source.type, c.ranks, source.rank, index, hash);
  }
  if (c.input == InputKind::coded) {
    const bool is_ordered = source.op == ReduceOp::min || source.op == ReduceOp::max;
    return is_ordered ? coded_extremum(source, index) : coded_sum_value(source, index);
  }
  std::int64_t value = exact_value(source, hash) * c.scale;
  if (c.added_seed > 0) {
    const CounterHash added(c.added_seed, static_cast<std::uint64_t>(source.rank));
    value += exact_value(source, added(index));
  }
  return value;
}

/// For bitwise and logical ops. With and, one rank that holds 0 would decide the result, and with
/// or, one rank that holds 1. So at each index only two ranks, in turn, have values that decide,
/// and all others have the neutral element.
std::uint64_t logic_bits(const Source& source, std::uint64_t index, std::uint64_t hash) {
  const ReduceOp op = source.op;
  const InputKind input = source.c.input;
  if (input == InputKind::coded && spec::is_bitwise(op)) {
    const auto digit = static_cast<std::uint64_t>(coded_sum_value(source, index));
    return op == ReduceOp::band ? ~digit : digit;
  }
  const bool has_neutral = op != ReduceOp::bxor && op != ReduceOp::lxor;
  constexpr std::int64_t deciding = 2;
  if (has_neutral && coded_order(source, index) >= deciding) {
    if (op == ReduceOp::band) return ~std::uint64_t{0};
    return op == ReduceOp::land ? hash | 1 : 0;
  }
  constexpr std::uint64_t is_true = std::uint64_t{1} << 62;
  if (spec::is_logical(op) && input != InputKind::special && (hash & is_true) == 0) return 0;
  if (input == InputKind::exact) return whole(source.type, exact_whole(source, index, hash));
  return input == InputKind::special ? special_integer(source.type, hash) : hash;
}

/// The special values of maxloc and minloc have no NaN. There are few of them, so that ranks often
/// have equal ones. -0 and +0 are equal, too.
std::uint64_t special_located(const TypeInfo& type, std::uint64_t hash) {
  const std::uint64_t infinity = exponent_mask(type);
  const std::uint64_t sign = drawn_sign(type, hash);
  const std::array<std::uint64_t, 4> magnitudes{0, infinity, infinity - 1, 1};
  return sign | magnitudes[(hash >> 32) % magnitudes.size()];
}

/// A float below 1, with a full random significand.
std::uint64_t general_float(const TypeInfo& type, std::uint64_t hash) {
  return random_float(type, -1 - static_cast<int>((hash >> 56) % 4), hash);
}

/// For maxloc and minloc: a value, or its index. Values are equal often, because defects are in the
/// ties. Indices differ between ranks, also between an element's neighbours along an axis.
std::uint64_t located_bits(const Source& source, std::uint64_t component, std::uint64_t hash) {
  const Case& c = source.c;
  const TypeInfo& type = source.type;
  const bool is_general = c.input == InputKind::general;
  if (component % 2 == 1) {
    if (is_general) return general_float(type, hash);
    // Every whole number up to 2^24 is exact.
    const std::uint64_t element = ((component / 2) ^ c.data_seed) % 4096;
    return whole(type,
                 static_cast<std::int64_t>(element) * c.ranks + coded_order(source, component));
  }
  const std::uint64_t chosen = hash % 3;
  if (is_general) {
    const CounterHash shared(c.data_seed, (std::uint64_t{1} << 34) + chosen);
    return general_float(type, shared(component));
  }
  if (c.input == InputKind::special) return special_located(type, hash);
  return whole(type, static_cast<std::int64_t>(chosen) - 1);
}

/// For compose: maps whose factor is odd. They have inverses, so that every map changes the result,
/// whatever follows it.
std::uint64_t map_bits(const Source& source, std::uint64_t hash) {
  if (source.c.input == InputKind::special) return special_integer(source.type, hash);
  return hash | std::uint64_t{1} << (4 * source.type.bytes);
}

/// For arithmetic ops.
std::uint64_t term_bits(const Source& source, std::uint64_t index, std::uint64_t hash) {
  const Case& c = source.c;
  const TypeInfo& type = source.type;
  if (c.input == InputKind::exact || c.input == InputKind::coded) {
    return whole(type, exact_whole(source, index, hash));
  }
  if (type.type_class != spec::TypeClass::floating) {
    return c.input == InputKind::special ? special_integer(type, hash) : hash;
  }
  if (c.input == InputKind::special) return special_float(type, source.op, hash);
  if (c.input == InputKind::each_special) return each_special_term(source, index, hash);
  if (source.op == ReduceOp::prod) return general_factor(type, c.ranks, hash);
  if (c.input == InputKind::cancelling) return cancelling_float(source, index, hash);
  if (c.input == InputKind::wide_range) return wide_range_float(type, hash);
  if (c.input == InputKind::edge) return edge_float(source, index);
  return general_float(type, hash);
}

/// The bits of one component.
std::uint64_t element_bits(const Source& source, std::uint64_t index) {
  const ReduceOp op = source.op;
  const std::uint64_t hash = source.hash(index);
  if (op == ReduceOp::none) return move_bits(source, index, hash);
  if (spec::is_bitwise(op) || spec::is_logical(op)) return logic_bits(source, index, hash);
  if (spec::is_located(op)) return located_bits(source, index, hash);
  if (op == ReduceOp::compose) return map_bits(source, hash);
  return term_bits(source, index, hash);
}

/// Whether a rank has any number of terms in one result, in a reduction along an axis.
bool has_rows(const Case& c) {
  const spec::Contract* const contract = reference::find_contract(c.operation);
  return contract != nullptr && spec::combines_rows(*contract);
}

/// The number of terms in one result.
std::int64_t terms_of(const Case& c) {
  return has_rows(c) ? spec::axis_length(collective_call(c)) : group_size(c);
}

/// The largest magnitude that a partial sum of the case's exact inputs can reach.
std::int64_t largest_exact_sum(const Case& c, const TypeInfo& type) {
  const std::int64_t scaled = std::abs(c.scale) + (c.added_seed > 0 ? 1 : 0);
  const std::int64_t scalar = collective(c).op == ReduceOp::premul_sum ? 2 : 1;
  return exact_limit(type, c.ranks) * scaled * scalar * terms_of(c);
}

/// The largest value that a partial sum of the case's coded inputs can reach. Without rows, every
/// rank has its own digit, and all digits fit.
std::int64_t largest_coded_sum(const Case& c, const TypeInfo& type) {
  if (!has_rows(c)) return 0;
  const std::int64_t largest_term = std::int64_t{3} << (3 * (coded_digits(type) - 1));
  return largest_term * terms_of(c);
}

}  // namespace

std::uint64_t input_index(const Case& c,
                          int block_index,
                          const spec::Block& block,
                          std::int64_t i) {
  const auto stride = static_cast<std::uint64_t>(collective(c).index_stride);
  const auto start = stride > 0 ? static_cast<std::uint64_t>(block_index) * stride
                                : static_cast<std::uint64_t>(block.offset);
  return start + static_cast<std::uint64_t>(collective(c).first_index) +
         static_cast<std::uint64_t>(i);
}

void fill_block(
    const Case& c, int rank, int block_index, const spec::Block& block, std::byte* out) {
  const Source source(c, source_rank(c, rank));
  const std::uint64_t components = spec::is_complex(c.type) ? 2 : 1;
  const std::uint64_t first = components * input_index(c, block_index, block, 0);
  const std::uint64_t end = first + components * static_cast<std::uint64_t>(block.count);
  const int bytes = source.type.bytes;
  // Most of all inputs are hashes.
  if (is_plain(source)) return store_each(bytes, first, end, source.hash, out);
  store_each(
      bytes, first, end, [&](auto i) { return element_bits(source, i); }, out);
}

bool has_scalar(const Case& c) {
  return c.part.family() == CollectiveCase::family && collective(c).op == ReduceOp::premul_sum;
}

void fill_scalar(const Case& c, int rank, std::byte* out) {
  const TypeInfo& type = spec::info(c.type);
  if (c.given != nullptr && !c.given->scalars.empty()) {
    std::copy_n(c.given->scalars.data() + std::int64_t{rank} * type.bytes, type.bytes, out);
    return;
  }
  const int source = source_rank(c, rank);
  const std::uint64_t hash =
      CounterHash(c.data_seed, static_cast<std::uint64_t>(source))(scalar_index);
  const bool exact = c.input == InputKind::exact || c.input == InputKind::coded;
  if (c.input == InputKind::coded) {
    store(whole(type, 1), type.bytes, out);
  } else if (type.type_class == spec::TypeClass::floating && !exact) {
    store(random_float(type, -1 + static_cast<int>((hash >> 32) % 2), hash), type.bytes, out);
  } else {
    const std::int64_t magnitude = 1 + static_cast<std::int64_t>(hash % 2);
    store(whole(type, with_sign(type, magnitude, hash)), type.bytes, out);
  }
}

bool is_defined(InputKind kind, Type type, ReduceOp op) {
  const bool floating = !spec::is_integer(type);
  switch (kind) {
    case InputKind::exact:
      return !spec::is_f8(type);
    case InputKind::coded:
    case InputKind::general:
    case InputKind::special:
      return true;
    case InputKind::each_special:
      return floating && !spec::is_located(op);
    case InputKind::cancelling:
    case InputKind::wide_range:
      return floating && op != ReduceOp::none && op != ReduceOp::prod && !spec::is_located(op);
    case InputKind::edge:
      return floating && op == ReduceOp::sum;
    case InputKind::fine:
    case InputKind::previous:
    case InputKind::given:
      return true;
  }
  return false;
}

bool is_exact(const Case& c) {
  if (spec::is_always_exact(collective(c).op) || spec::is_integer(c.type)) return true;
  if (c.input == InputKind::edge) return !has_rows(c);
  if (c.input != InputKind::exact && c.input != InputKind::coded) return false;
  if (collective(c).op == ReduceOp::prod) return true;
  const auto n = static_cast<std::uint64_t>(terms_of(c));
  if (collective(c).op == ReduceOp::avg && !std::has_single_bit(n)) return false;
  const TypeInfo& type = spec::info(spec::component(c.type));
  if (c.input == InputKind::coded) {
    return largest_coded_sum(c, type) <= std::int64_t{1} << sum_bits(type);
  }
  return largest_exact_sum(c, type) <= std::int64_t{1} << sum_bits(type);
}

bool may_overflow(const Case& c) {
  if (spec::is_always_exact(collective(c).op) || !spec::is_integer(c.type)) return false;
  if (c.input == InputKind::previous) return false;
  if (c.input != InputKind::exact && c.input != InputKind::coded) return true;
  const TypeInfo& type = spec::info(c.type);
  if (collective(c).op == ReduceOp::prod) return has_rows(c) && terms_of(c) > factors_max(type);
  if (c.input == InputKind::coded) {
    return largest_coded_sum(c, type) >= std::int64_t{1} << sum_bits(type);
  }
  // An unsigned number with a negative scale wraps at once.
  if (type.type_class == spec::TypeClass::unsigned_integer && c.scale < 0) return true;
  return largest_exact_sum(c, type) >= std::int64_t{1} << sum_bits(type);
}

std::string decode_sum(const Case& c,
                       std::uint64_t index,
                       const std::byte* expected,
                       const std::byte* got) {
  const ReduceOp op = collective(c).op;
  const bool has_digits = op == ReduceOp::sum || op == ReduceOp::premul_sum || spec::is_bitwise(op);
  if (c.input != InputKind::coded || !has_digits || spec::is_complex(c.type)) return {};
  const TypeInfo& type = spec::info(c.type);
  auto want = whole_of(type, expected);
  auto have = whole_of(type, got);
  if (op == ReduceOp::band && want && have) {
    want = complement(type, *want);
    have = complement(type, *have);
  }
  const int digits = coded_digits(type);
  if (!want || !have || *have < 0 || (*have >> (3 * digits)) != 0) return {};
  std::string text;
  for (int rank = 0; rank < c.ranks; ++rank) {
    const Source source(c, source_rank(c, rank));
    const int digit = coded_digit(source, index);
    const auto wanted = static_cast<int>((*want >> source.coded_shift) & 7);
    const auto found = static_cast<int>((*have >> source.coded_shift) & 7);
    if (digit == 0 || wanted == found) continue;
    if (!text.empty()) text += ", ";
    text += "rank " + std::to_string(rank);
    if (found == 0) {
      text += op == ReduceOp::bxor ? " missing or twice" : " missing";
    } else if (found == 2 * digit && !spec::is_bitwise(op)) {
      text += " twice";
    } else {
      text += " shows " + std::to_string(found) + " for " + std::to_string(wanted);
    }
  }
  return text;
}

}  // namespace rankcheck::cases
