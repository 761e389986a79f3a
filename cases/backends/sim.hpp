#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/collectives/registry.hpp"
#include "gpu/device/sim/cluster.hpp"
#include "gpu/device/sim/simulator.hpp"
#include "gpu/ptycho/registry.hpp"

#include "harness/backend.hpp"

#include "cases/devices/algorithms.hpp"

namespace rankcheck::cases {

/// A call of an operator that is about to run.
struct OperatorCall {
  const gpu::Operator& algorithm;
  gpu::Cluster& cluster;
  const spec::Contract& contract;
  const spec::OperatorCall& call;
  std::span<const gpu::DeviceBuffers> buffers;

  void make() const { algorithm.run({cluster, contract, call, buffers}); }
};

/// Runs plans and operators on simulated devices inside this process.
class SimBackend : public harness::Backend {
 public:
  /// Changes a plan before it runs. Planted bugs in plans use this.
  using EditPlan = std::function<void(const harness::Case& c, gpu::plan::Plan& plan)>;

  /// Changes the result of a stage before the next stage may read it. Planted bugs in results use
  /// this.
  using EditResult = std::function<void(
      std::span<const harness::Case> stages, std::size_t stage, harness::Observation& observation)>;

  /// Makes the call of an operator in its own way. Planted bugs in operators use this.
  using ReplaceCall = std::function<void(const harness::Case& c, const OperatorCall& call)>;

  /// The data behind `implementations` must outlive the backend.
  explicit SimBackend(std::span<const gpu::Implementation> implementations,
                      EditPlan edit_plan = {},
                      EditResult edit_result = {},
                      ReplaceCall replace_call = {});

  [[nodiscard]] const harness::BackendTraits& traits() const override { return traits_; }
  [[nodiscard]] std::vector<harness::AlgorithmInfo> algorithms() const override {
    return algorithms_.infos();
  }
  [[nodiscard]] std::string why_refused(const harness::Case& c) const override;
  void run(std::span<const harness::Case> stages, harness::Observation& observation) override;

 private:
  /// Runs one stage. Returns false if the run ends with this stage.
  bool run_stage(std::span<const harness::Case> stages,
                 std::size_t stage,
                 harness::Observation& observation);
  void fill_images(std::span<const harness::Case> stages,
                   std::size_t stage,
                   harness::Observation& observation);
  bool run_plan(const gpu::plan::Algorithm& algorithm,
                std::span<const harness::Case> stages,
                std::size_t stage,
                harness::Observation& observation);
  bool run_operator(const gpu::Operator& algorithm,
                    std::span<const harness::Case> stages,
                    std::size_t stage,
                    harness::Observation& observation);
  bool settle(const gpu::sim::Report& report,
              std::size_t stage,
              bool synchronises,
              harness::Observation& observation);

  Algorithms algorithms_;
  EditPlan edit_plan_;
  EditResult edit_result_;
  ReplaceCall replace_call_;
  harness::BackendTraits traits_;
  gpu::plan::Builder builder_;
  gpu::plan::Plan plan_;
  gpu::sim::Simulator simulator_;
  gpu::sim::SimCluster cluster_;
  std::vector<gpu::sim::RankBuffers> buffers_;
  std::vector<std::byte> scalars_;
  harness::ImageLayout layout_;
};

/// Opens the backend with every algorithm of gpu/collectives and gpu/ptycho.
[[nodiscard]] std::unique_ptr<harness::Backend> open_sim(const harness::BackendOptions& options);

}  // namespace rankcheck::cases
