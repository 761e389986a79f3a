#include "harness/properties/is_deterministic.hpp"

#include "cases/collectives/agrees_with_reference.hpp"
#include "cases/collectives/composition.hpp"
#include "cases/collectives/groups_at_once.hpp"
#include "cases/collectives/splits.hpp"
#include "cases/families/collectives/case.hpp"
#include "cases/suites/registry.hpp"

namespace rankcheck::cases::send_recv {

namespace {

/// The pattern one_way has no reverse: odd ranks never send.
bool has_reverse(const spec::Contract& contract, const harness::Case& c) {
  return applies_out_of_place(contract, c) && collective(c).pattern != spec::Pattern::one_way;
}

harness::Property returns_by_the_reverse() {
  harness::Property law = returns(
      "returns_by_the_reverse",
      "Sending along a pattern and back along its reverse returns the data.",
      [](const spec::Contract&, const harness::Case& c, std::vector<harness::Case>& stages) {
        stages.assign(2, c);
        stages[1].input = harness::InputKind::previous;
        collective(stages[1]).shift = -collective(c).shift;
      });
  law.applies = has_reverse;
  law.adapt = [](const spec::Contract& contract, harness::Case& c) {
    adapt_out_of_place(contract, c);
    if (!has_reverse(contract, c)) collective(c).pattern = spec::Pattern::pairs;
  };
  return law;
}

}  // namespace

Suite suite() {
  return {.properties = {
              agrees_with_reference(),
              harness::is_deterministic(),
              repeats_with_other_data(),
              keeps_groups_apart(),
              groups_at_once(),
              splits(),
              returns_by_the_reverse(),
          }};
}

}  // namespace rankcheck::cases::send_recv
