#include "cases/collectives/oracle.hpp"

#include <algorithm>
#include <stdexcept>

#include "reference/collectives/registry.hpp"
#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/case/family.hpp"
#include "harness/case/image.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"

namespace rankcheck::cases {

namespace {

reference::Reference reference_of(const std::string& operation) {
  const auto& all = reference::collectives();
  const auto found = std::find_if(
      all.begin(), all.end(), [&](const auto& each) { return each.contract.name == operation; });
  if (found == all.end()) throw std::logic_error(operation + " is not a collective");
  return found->reference;
}

}  // namespace

Oracle::Oracle(const harness::Evidence& evidence, std::size_t stage)
    : case_(evidence.stages[stage]),
      call_(collective_call(case_)),
      bytes_(spec::info(case_.type).bytes),
      rule_{
          .type = case_.type,
          .op = collective(case_).op,
          .ranks = static_cast<int>(spec::terms(reference::contract_named(case_.operation), call_)),
          .nan_rule = evidence.traits.nan_rule,
          .zero_rule = evidence.traits.zero_rule,
          .exact = is_exact(case_) && !evidence.traits.rounds},
      reference_(reference_of(case_.operation)) {
  const std::vector<int> ranks = members(case_);
  const auto n = ranks.size();
  const auto bytes = spec::to_size(bytes_);
  views_.resize(n);
  inputs_.resize(n);
  for (std::size_t r = 0; r < n; ++r) {
    views_[r] = harness::view(evidence, stage, static_cast<int>(r));
    const spec::Extents& extents = views_[r].layout.extents;
    if (case_.input == harness::InputKind::previous) {
      const harness::BufferView before = harness::view(evidence, stage - 1, static_cast<int>(r));
      const std::byte* const left = before.layout.recv < 0 ? before.image : before.recv();
      inputs_[r].assign(left, left + extents.send_size * bytes_);
      continue;
    }
    inputs_[r].assign(spec::to_size(extents.send_size) * bytes, std::byte{});
    fill_send(harness::family_of(reference::contract_named(case_.operation)),
              case_,
              ranks[r],
              extents,
              inputs_[r].data());
  }
  if (!has_scalar(case_)) return;
  scalars_.resize(n * bytes);
  for (std::size_t r = 0; r < n; ++r) {
    fill_scalar(case_, ranks[r], scalars_.data() + r * bytes);
  }
}

void Oracle::expect(const reference::Piece& piece,
                    std::int64_t begin,
                    std::int64_t count,
                    numerics::Expected& expected) {
  if (piece.source >= 0) {
    const std::int64_t at = (piece.send_offset + begin) * bytes_;
    numerics::expect_bits(input(piece.source).data() + at, count * bytes_, expected);
    return;
  }
  contributions_.clear();
  scalars_of_terms_.clear();
  for (const reference::Term& term : terms_of(piece, call_.ranks)) {
    contributions_.push_back(input(term.rank).data() + (term.offset + begin) * bytes_);
    if (scalars_.empty()) continue;
    const auto scalar = scalars_.begin() + term.rank * bytes_;
    scalars_of_terms_.insert(scalars_of_terms_.end(), scalar, scalar + bytes_);
  }
  numerics::fold(rule_, contributions_, scalars_of_terms_, count, expected);
}

void write_expected(spec::Type type, const numerics::Expected& expected, std::byte* out) {
  if (expected.as_bits) {
    std::copy(expected.bits.begin(), expected.bits.end(), out);
    return;
  }
  const spec::Type component = spec::component(type);
  for (const double value : expected.high) {
    numerics::from_double(component, value, out);
    out += spec::info(component).bytes;
  }
}

}  // namespace rankcheck::cases
