#pragma once

#include <vector>

#include "harness/check/operation.hpp"

#include "cases/ptycho/stage.hpp"

/// Problems with a known solution: the frames are the frames of the object and probe from which a
/// step starts.
namespace rankcheck::cases {

/// Plans the operators that compute the frames of object and probe, then the step.
void plan_truth(const spec::Contract& contract,
                const harness::Case& c,
                std::vector<harness::Case>& stages);

/// Reads the last stage, a step. Replaces its frames by the model's frames of a probe that is
/// `brightness` times as bright, with the errors of the model. Exit waves, if the step has any,
/// become those of object and probe.
[[nodiscard]] OperatorStage read_truth(const harness::Evidence& evidence, double brightness = 1);

}  // namespace rankcheck::cases
