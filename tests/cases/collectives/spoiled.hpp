#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "reference/spec/to_size.hpp"

#include "gpu/collectives/registry.hpp"

#include "harness/case/family.hpp"
#include "harness/case/image.hpp"
#include "harness/check/operation.hpp"

#include "cases/backends/sim.hpp"
#include "cases/suites/catalogue.hpp"

namespace rankcheck::cases {

/// Returns all operations with the properties that they claim.
inline const harness::Catalogue& all_operations() {
  static const harness::Catalogue all = make_catalogue();
  return all;
}

/// Changes the results of a whole run.
using Spoil =
    std::function<void(std::span<const harness::Case> stages, harness::Observation& observation)>;

/// A simulator whose results are changed after the last stage.
class SpoiledBackend : public SimBackend {
 public:
  explicit SpoiledBackend(Spoil spoil)
      : SimBackend(gpu::implementations()), spoil_(std::move(spoil)) {}

  void run(std::span<const harness::Case> stages, harness::Observation& observation) override {
    SimBackend::run(stages, observation);
    if (spoil_) spoil_(stages, observation);
  }

 private:
  Spoil spoil_;
};

/// Returns the judgement of a case whose results are changed by `spoil`. Without `spoil` they stay
/// right.
inline harness::Judgement examine(const std::string& text, Spoil spoil = {}) {
  SpoiledBackend backend(std::move(spoil));
  harness::Judgement judgement;
  harness::Examiner(all_operations(), backend).examine(harness::case_from_text(text), judgement);
  return judgement;
}

inline const spec::Contract& contract_of(const harness::Case& c) {
  return all_operations().find(c.operation)->contract;
}

/// Returns the layout of one rank's memory image after a stage on the simulator.
inline harness::ImageLayout layout_of(const harness::Case& c, int rank) {
  harness::ImageLayout layout;
  lay_out(contract_of(c), c, rank, harness::ResultPlace::own_block, layout);
  return layout;
}

/// Returns the memory of group rank `rank` before the call.
inline harness::Image memory_before(const harness::Case& c, int rank) {
  harness::Image image;
  const int world_rank = members(c)[spec::to_size(rank)];
  const harness::Family& family = harness::family_of(contract_of(c));
  prepare(family, c, world_rank, layout_of(c, rank), nullptr, image);
  return image;
}

}  // namespace rankcheck::cases
