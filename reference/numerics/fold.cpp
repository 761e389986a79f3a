#include "reference/numerics/fold.hpp"

#include <algorithm>

#include "reference/numerics/folds.hpp"
#include "reference/spec/to_size.hpp"
#include "reference/spec/value_rules.hpp"

namespace rankcheck::numerics {

namespace {

void resize(Expected& out, std::size_t bytes, std::size_t components) {
  out.as_bits = bytes > 0;
  out.bits.resize(bytes);
  out.high.resize(components);
  out.low.resize(components);
  out.bound.resize(components);
  out.admits.resize(components);
  out.candidates.clear();
}

}  // namespace

void fold(const Fold& rule,
          std::span<const std::byte* const> in,
          std::span<const std::byte> scalars,
          std::int64_t count,
          Expected& out) {
  const auto bytes = spec::to_size(count * spec::info(rule.type).bytes);
  if (rule.op == spec::ReduceOp::none) {
    return expect_bits(in[0], static_cast<std::int64_t>(bytes), out);
  }
  if (spec::is_integer(rule.type)) {
    resize(out, bytes, 0);
    out.as_bits = true;
    return fold_integers(rule, in, scalars, count, out.bits.data());
  }
  const std::int64_t components = spec::is_complex(rule.type) ? 2 * count : count;
  resize(out, 0, spec::to_size(components));
  const Contributions terms{spec::component(rule.type), in, scalars};
  if (spec::is_located(rule.op)) return fold_located(rule, terms, count, out);
  switch (rule.op) {
    case spec::ReduceOp::prod:
      fold_products(rule, terms, components, out);
      break;
    case spec::ReduceOp::min:
    case spec::ReduceOp::max:
      fold_extremes(rule, terms, components, out);
      break;
    default:
      fold_sums(rule, terms, components, out);
  }
  if (rule.zero_rule == ZeroRule::ieee) demand_signs_of_zero(rule, terms, components, out);
}

void expect_bits(const std::byte* bytes, std::int64_t size_bytes, Expected& out) {
  resize(out, spec::to_size(size_bytes), 0);
  out.as_bits = true;
  std::copy_n(bytes, size_bytes, out.bits.data());
}

}  // namespace rankcheck::numerics
