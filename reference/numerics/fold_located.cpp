#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "reference/numerics/folds.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::numerics {

namespace {

/// A value and its index, as the two components of a complex number.
using Located = std::array<double, 2>;

Located read(const Contributions& terms, std::size_t q, std::int64_t pair) {
  Located found{};
  terms.read(q, 2 * pair, 2, found.data());
  return found;
}

bool has_nan(const Located& pair) {
  return std::isnan(pair[0]) || std::isnan(pair[1]);
}

bool is_better(spec::ReduceOp op, const Located& a, const Located& b) {
  if (a[0] == b[0]) return a[1] < b[1];
  return op == spec::ReduceOp::maxloc ? a[0] > b[0] : a[0] < b[0];
}

/// Admits every value, so that nothing is compared.
void expect_nothing(std::size_t component, Expected& out) {
  expect_value(0, component, out);
  out.bound[component] = std::numeric_limits<double>::infinity();
  out.admits[component] =
      admits_finite | admits_positive_infinity | admits_negative_infinity | admits_nan;
}

}  // namespace

/// A result with NaN among its terms depends on the order, so it is not compared.
void fold_located(const Fold& rule, const Contributions& terms, std::int64_t count, Expected& out) {
  for (std::int64_t i = 0; i < count; ++i) {
    Located best = read(terms, 0, i);
    bool any_nan = has_nan(best);
    for (std::size_t q = 1; q < terms.in.size(); ++q) {
      const Located each = read(terms, q, i);
      any_nan = any_nan || has_nan(each);
      if (is_better(rule.op, each, best)) best = each;
    }
    for (std::size_t part = 0; part < best.size(); ++part) {
      const std::size_t at = 2 * spec::to_size(i) + part;
      if (any_nan) {
        expect_nothing(at, out);
      } else {
        expect_value(best[part], at, out);
      }
    }
  }
}

}  // namespace rankcheck::numerics
