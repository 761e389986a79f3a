#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/simulator.hpp"

#include "harness/backend.hpp"

namespace rankcheck::cases {

/// Runs plans on simulated devices inside this process.
class SimBackend : public harness::Backend {
 public:
  /// Changes a plan before it runs: how the canaries plant their bugs.
  using Mutation = std::function<void(const harness::Case& c, gpu::plan::Plan& plan)>;

  /// Changes what a stage left behind, before the next stage may read it: bugs of another kind.
  using Aftermath = std::function<void(
      std::span<const harness::Case> stages, std::size_t stage, harness::Observation& observation)>;

  /// `implementations` must outlive the backend.
  explicit SimBackend(std::span<const gpu::Implementation> implementations,
                      Mutation mutation = {},
                      Aftermath aftermath = {});

  [[nodiscard]] const harness::BackendTraits& traits() const override { return traits_; }
  [[nodiscard]] std::vector<harness::AlgorithmInfo> algorithms() const override;
  [[nodiscard]] std::string refuses(const harness::Case& c) const override;
  void run(std::span<const harness::Case> stages, harness::Observation& observation) override;

 private:
  /// The algorithm that the case names or, where it names none, prefers of those that take it; null
  /// where there is none.
  [[nodiscard]] const gpu::Implementation* choose(const harness::Case& c) const;
  /// Runs one stage; false where the run ends here.
  bool run_stage(std::span<const harness::Case> stages,
                 std::size_t stage,
                 harness::Observation& observation);
  void fill_images(std::span<const harness::Case> stages,
                   std::size_t stage,
                   harness::Observation& observation);
  bool settle(const gpu::sim::Report& report,
              std::size_t stage,
              bool synchronises,
              harness::Observation& observation);

  std::span<const gpu::Implementation> implementations_;
  Mutation mutation_;
  Aftermath aftermath_;
  harness::BackendTraits traits_;
  gpu::plan::Builder builder_;
  gpu::plan::Plan plan_;
  gpu::sim::Simulator simulator_;
  std::vector<gpu::sim::RankBuffers> buffers_;
  std::vector<std::byte> scalars_;
  harness::ImageLayout layout_;
};

/// The backend with every algorithm of gpu/collectives.
[[nodiscard]] std::unique_ptr<harness::Backend> open_sim(const harness::BackendOptions& options);

}  // namespace rankcheck::cases
