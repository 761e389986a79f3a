#include "gpu/ptycho/registry.hpp"

#include <algorithm>
#include <tuple>

namespace rankcheck::gpu {

const std::vector<OperatorImplementation>& operators() {
  static const std::vector<OperatorImplementation> all = [] {
    std::vector<OperatorImplementation> list = algorithms_of_folders();
    for (const auto& more : {algorithms_of_transforms(),
                             algorithms_of_costs(),
                             algorithms_of_illumination(),
                             algorithms_of_exchanges(),
                             algorithms_of_steps()}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return std::tie(a.operation, a.algorithm.name) < std::tie(b.operation, b.algorithm.name);
    });
    return list;
  }();
  return all;
}

}  // namespace rankcheck::gpu
