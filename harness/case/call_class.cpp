#include "harness/case/call_class.hpp"

#include <algorithm>
#include <utility>

namespace rankcheck::harness {

std::int64_t longest(const Case& c) {
  return c.counts.empty() ? c.count : *std::ranges::max_element(c.counts);
}

CallClass with_input(std::string_view component,
                     std::string_view name,
                     InputKind input,
                     std::int64_t length_min,
                     std::function<bool(const Cell& cell)> admits,
                     std::function<bool(const Case& c)> has) {
  return {.name = "input/" + std::string(component) + '/' + std::string(name),
          .has =
              [input, length_min, has = std::move(has)](const Case& c) {
                return c.input == input && has(c) && group_size(c) > 1 && longest(c) >= length_min;
              },
          .needs = CallClass::Needs::data,
          .input = input,
          .admits = std::move(admits)};
}

}  // namespace rankcheck::harness
