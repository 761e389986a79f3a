#include "cases/audit/call_edits.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::audit {

using spec::Array;

void run_transposed(InterceptedCall& intercepted) {
  intercepted.change_input(Array::positions, [](Values& values, int) {
    for (std::size_t i = 0; i + 1 < values.size(); i += 2) std::swap(values[i], values[i + 1]);
  });
  intercepted.run();
}

void run_with_first_mode(InterceptedCall& intercepted) {
  const spec::Scene& scene = intercepted.call().scene;
  const auto probe = spec::to_size(spec::values(scene, Array::probe));
  const std::size_t mode = probe / spec::to_size(scene.modes);
  intercepted.change_input(Array::probe, [&](Values& values, int) {
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = values[i - i % probe + i % mode];
  });
  intercepted.run();
}

void run_unmasked(InterceptedCall& intercepted) {
  intercepted.change_input(Array::mask,
                           [](Values& values, int) { std::fill(values.begin(), values.end(), 1); });
  intercepted.run();
}

}  // namespace rankcheck::cases::audit
