#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "gpu/collectives/registry.hpp"

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

/// Returns the layout of one rank's memory image after a stage on the simulator.
inline harness::ImageLayout layout_of(const harness::Case& c, int rank) {
  harness::ImageLayout layout;
  lay_out(all_operations().find(c.operation)->contract,
          c,
          rank,
          harness::ResultPlace::own_block,
          layout);
  return layout;
}

}  // namespace rankcheck::cases
