#include <algorithm>
#include <array>

#include "reference/numerics/folds.hpp"
#include "reference/numerics/superaccumulator.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::numerics {

namespace {

/// The product of all contributions to one component, and how far partial products may go.
struct Product {
  bool any_nan = false;
  bool any_infinity = false;
  bool any_zero = false;
  bool negative = false;
  /// Product of the finite, nonzero contributions.
  Scaled value{.significand = {1, 0}, .exponent = 0};
  /// The largest and the smallest magnitude of a product of some of these contributions.
  double highest = 1;
  double lowest = 1;
  /// Number of factors in `highest`.
  int above_one = 0;

  void multiply(double x) {
    any_nan = any_nan || std::isnan(x);
    any_infinity = any_infinity || std::isinf(x);
    any_zero = any_zero || x == 0;
    negative = negative != std::signbit(x);
    if (!std::isfinite(x) || x == 0) return;
    const double magnitude = std::fabs(x);
    highest *= std::max(magnitude, 1.0);
    lowest *= std::min(magnitude, 1.0);
    above_one += magnitude > 1 ? 1 : 0;
    int binary = 0;
    const double m = std::frexp(x, &binary);
    const Pair product = two_product(value.significand.high, m);
    value.significand = two_sum(product.high, product.low + value.significand.low * m);
    value.exponent += binary;
    // Rescales long before the low part underflows.
    constexpr double small = 0x1p-500;
    if (std::fabs(value.significand.high) < small) {
      value.significand = {value.significand.high / small, value.significand.low / small};
      value.exponent -= 500;
    }
  }
};

/// Every order rounds n - 1 times, so the error is at most growth(n - 1) |P|. A partial product
/// that underflows is off by at most the smallest subnormal. Later factors enlarge this error by at
/// most `highest`.
class Judgement {
 public:
  Judgement(const Fold& rule, const Format& format)
      : rule_(rule), format_(format), relative_(growth(rule.ranks - 1, format.unit_roundoff)) {}

  /// Expects the product and every class of value that some order of evaluation can reach.
  void expect(const Product& product, std::size_t at, Expected& out) const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const int above_one = product.above_one;
    const bool overflows =
        may_overflow(format_, product.highest, above_one, rule_.exact ? 0 : above_one - 2);
    const bool underflows = product.lowest < format_.smallest_normal * (1 + 2 * relative_);
    if (product.any_nan || (product.any_infinity && product.any_zero)) {
      expect_value(std::numeric_limits<double>::quiet_NaN(), at, out);
    } else if (product.any_zero) {
      expect_value(0, at, out);
      if (overflows) out.admits[at] |= admits_nan;
    } else if (product.any_infinity || (!underflows && beyond_double(product))) {
      expect_value(product.negative ? -infinity : infinity, at, out);
      if (underflows) out.admits[at] |= admits_nan;
    } else {
      expect_within(to_pair(product.value), bound(product, underflows), at, out);
      if (!overflows) return;
      out.admits[at] |= product.negative ? admits_negative_infinity : admits_positive_infinity;
      if (underflows) out.admits[at] |= admits_nan;
    }
  }

 private:
  /// Whether even the smallest result within the bound is larger than any double.
  [[nodiscard]] bool beyond_double(const Product& product) const {
    const auto& [significand, exponent] = product.value;
    const double smallest = std::fabs(significand.high) * (1 - relative_ * slack(rule_.ranks));
    return std::ldexp(smallest, exponent) == std::numeric_limits<double>::infinity();
  }

  [[nodiscard]] double bound(const Product& product, bool underflows) const {
    const int rounded = rule_.ranks - 1;
    if (rule_.exact || rounded == 0) return 0;
    const auto& [significand, exponent] = product.value;
    double bound = std::ldexp(relative_ * std::fabs(significand.high), exponent);
    if (underflows) {
      bound += rounded * format_.smallest_subnormal * product.highest * (1 + relative_);
    }
    return bound * slack(rule_.ranks);
  }

  const Fold& rule_;
  const Format format_;
  const double relative_;
};

}  // namespace

void fold_products(const Fold& rule,
                   const Contributions& terms,
                   std::int64_t count,
                   Expected& out) {
  const Judgement judgement(rule, format_of(terms.component));
  std::array<double, run_components> x;
  std::array<Product, run_components> products;
  for (std::int64_t first = 0; first < count; first += run_components) {
    const std::int64_t run = std::min(run_components, count - first);
    const auto size = spec::to_size(run);
    std::fill_n(products.begin(), size, Product{});
    for (std::size_t q = 0; q < terms.in.size(); ++q) {
      terms.read(q, first, run, x.data());
      for (std::size_t i = 0; i < size; ++i) products[i].multiply(x[i]);
    }
    for (std::size_t i = 0; i < size; ++i) {
      judgement.expect(products[i], spec::to_size(first) + i, out);
    }
  }
}

}  // namespace rankcheck::numerics
