#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/laws.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::shift_back {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              conserves_energy(),
              has_adjoint("has_adjoint_shift",
                          "<shift_back(x), y> = <x, shift(y)>.",
                          [](const spec::Contract&,
                             const harness::Case& c,
                             std::vector<harness::Case>& stages) {
                            stages.assign(2, c);
                            stages[1].operation = "shift";
                            stages[1].algorithm.clear();
                          }),
              is_undone("is_undone_by_shift",
                        "shift(shift_back(x)) = x.",
                        [](const spec::Contract&,
                           const harness::Case& c,
                           std::vector<harness::Case>& stages) {
                          stages.assign(2, c);
                          stages[1].operation = "shift";
                          stages[1].algorithm.clear();
                          stages[1].chained = true;
                        }),
          }};
}

}  // namespace rankcheck::cases::shift_back
