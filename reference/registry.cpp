#include "reference/registry.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "reference/collectives/registry.hpp"
#include "reference/ptycho/registry.hpp"

namespace rankcheck::reference {

const std::vector<const spec::Contract*>& contracts() {
  static const std::vector<const spec::Contract*> all = [] {
    std::vector<const spec::Contract*> list;
    for (const Collective& each : collectives()) list.push_back(&each.contract);
    for (const PtychoOperator& each : ptycho()) list.push_back(&each.contract);
    std::sort(
        list.begin(), list.end(), [](const auto* a, const auto* b) { return a->name < b->name; });
    return list;
  }();
  return all;
}

const spec::Contract* find_contract(std::string_view operation) {
  const auto found = std::lower_bound(
      contracts().begin(),
      contracts().end(),
      operation,
      [](const auto* contract, std::string_view name) { return contract->name < name; });
  return found != contracts().end() && (*found)->name == operation ? *found : nullptr;
}

const spec::Contract& contract_named(std::string_view operation) {
  const spec::Contract* found = find_contract(operation);
  if (found == nullptr) throw std::out_of_range("no operation " + std::string(operation));
  return *found;
}

}  // namespace rankcheck::reference
