#include <cmath>

#include "reference/numerics/folds.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::numerics {

namespace {

using spec::ReduceOp;

/// Counts of the contributions to one component, by what decides the sign of a zero.
struct Terms {
  int positive_zeros = 0;
  int negative_zeros = 0;
  int others = 0;
  /// Sign of the product of all contributions.
  bool is_negative = false;
};

Terms terms_of(const Fold& rule, const Contributions& terms, std::int64_t index) {
  Terms seen;
  for (std::size_t q = 0; q < terms.in.size(); ++q) {
    double x = 0;
    terms.read(q, index, 1, &x);
    const bool is_scaled = rule.op == ReduceOp::premul_sum;
    const bool is_negative = std::signbit(x) != (is_scaled && std::signbit(terms.scalar(q)));
    seen.is_negative = seen.is_negative != is_negative;
    if (x != 0) {
      ++seen.others;
    } else {
      ++(is_negative ? seen.negative_zeros : seen.positive_zeros);
    }
  }
  return seen;
}

/// Whether every order computes the sum of these terms without rounding, if the sum is 0. Two terms
/// whose sum is 0 are opposite numbers, and so are their halves (avg).
bool is_exact_sum(const Fold& rule, const Terms& seen) {
  const bool are_opposite = rule.ranks == 2 && rule.op != ReduceOp::premul_sum;
  return seen.others == 0 || rule.exact || are_opposite;
}

/// The bit that demands the sign of a zero; 0 if the inputs do not decide the sign.
std::uint8_t demanded_sign(const Fold& rule, const Terms& seen) {
  const auto bit_of = [](bool is_negative) {
    return is_negative ? demands_negative_zero : demands_positive_zero;
  };
  if (rule.op == ReduceOp::prod) return bit_of(seen.is_negative);
  if (rule.op == ReduceOp::min || rule.op == ReduceOp::max) {
    const bool has_both = seen.positive_zeros > 0 && seen.negative_zeros > 0;
    return has_both ? 0 : bit_of(seen.negative_zeros > 0);
  }
  if (!is_exact_sum(rule, seen)) return 0;
  return bit_of(seen.positive_zeros == 0 && seen.others == 0);
}

}  // namespace

void demand_signs_of_zero(const Fold& rule,
                          const Contributions& terms,
                          std::int64_t count,
                          Expected& out) {
  for (std::int64_t index = 0; index < count; ++index) {
    const auto at = spec::to_size(index);
    const bool may_be_other = (out.admits[at] & admits_candidates) != 0;
    if (out.high[at] != 0 || out.low[at] != 0 || may_be_other) continue;
    const std::uint8_t sign = demanded_sign(rule, terms_of(rule, terms, index));
    out.admits[at] |= sign;
    // Messages show `high`, so it gets the sign too.
    if (sign == demands_negative_zero) out.high[at] = out.low[at] = -0.0;
  }
}

}  // namespace rankcheck::numerics
