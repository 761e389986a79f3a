#include "harness/properties/is_deterministic.hpp"

#include "cases/ptycho/laws.hpp"
#include "cases/registry.hpp"

namespace rankcheck::cases::pad {

Suite suite() {
  return {.properties = {
              operator_agrees_with_reference(),
              harness::is_deterministic(),
              is_linear_in_each_array(),
              is_independent_of_partition(),
              has_adjoint("has_adjoint_crop",
                          "<pad(x), y> = <x, crop(y)>.",
                          [](const spec::Contract&,
                             const harness::Case& c,
                             std::vector<harness::Case>& stages) {
                            stages.assign(2, c);
                            stages[1].operation = "crop";
                            stages[1].algorithm.clear();
                          }),
              is_undone("is_undone_by_crop",
                        "crop(pad(x)) = x.",
                        [](const spec::Contract&,
                           const harness::Case& c,
                           std::vector<harness::Case>& stages) {
                          stages.assign(2, c);
                          stages[1].operation = "crop";
                          stages[1].algorithm.clear();
                          stages[1].chained = true;
                        }),
          }};
}

}  // namespace rankcheck::cases::pad
