#pragma once

#include <initializer_list>
#include <string_view>

#include "reference/spec/operator.hpp"

namespace rankcheck::reference {

/// The contract of a gradient or a step of all ranks' frames: of the cost, the object and the
/// probe.
[[nodiscard]] inline spec::Contract frames_contract(std::string_view name,
                                                    std::string_view summary,
                                                    std::string_view formula,
                                                    std::string_view source) {
  using spec::Array;
  return {.name = name,
          .summary = summary,
          .formula = formula,
          .source = source,
          .ranks_agree = true,
          .part = spec::OperatorTraits{
              .inputs = {Array::object, Array::probe, Array::positions, Array::frames, Array::mask},
              .outputs = {Array::cost, Array::object, Array::probe}}};
}

/// The contract of a solver's step. `state` are arrays that a step also takes from the step before
/// and leaves for the next one.
[[nodiscard]] inline spec::Contract step_contract(std::string_view name,
                                                  std::string_view summary,
                                                  std::string_view formula,
                                                  std::string_view source,
                                                  std::initializer_list<spec::Array> state = {}) {
  spec::Contract contract = frames_contract(name, summary, formula, source);
  spec::OperatorTraits& traits = ptycho(contract);
  traits.inputs.insert(traits.inputs.end(), state);
  traits.outputs.insert(traits.outputs.end(), state);
  traits.shares_probe = true;
  return contract;
}

}  // namespace rankcheck::reference
