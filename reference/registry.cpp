#include "reference/registry.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <unordered_map>

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
  // Every case asks several times.
  static const auto by_name = [] {
    std::unordered_map<std::string_view, const spec::Contract*> map;
    for (const spec::Contract* const each : contracts()) map.emplace(each->name, each);
    return map;
  }();
  const auto found = by_name.find(operation);
  return found != by_name.end() ? found->second : nullptr;
}

const spec::Contract& contract_named(std::string_view operation) {
  const spec::Contract* found = find_contract(operation);
  if (found == nullptr) throw std::out_of_range("no operation " + std::string(operation));
  return *found;
}

}  // namespace rankcheck::reference
