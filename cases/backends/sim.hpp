#pragma once

#include <array>
#include <cstddef>
#include <deque>
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

#include "harness/backend/backend.hpp"

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

/// What planted bugs change. Empty functions change nothing.
struct SimEdits {
  /// Changes a plan before it runs.
  std::function<void(const harness::Case& c, gpu::plan::Plan& plan)> plan = {};
  /// Changes the result of a stage before the next stage may read it.
  std::function<void(
      std::span<const harness::Case> stages, std::size_t stage, harness::Observation& observation)>
      result = {};
  /// Makes the call of an operator in its own way.
  std::function<void(const harness::Case& c, const OperatorCall& call)> call = {};
  /// Changes the plan of calls that are in flight at the same time: of several groups, repeated
  /// calls of one group, or a history. `stages` are these calls.
  std::function<void(std::span<const harness::Case> stages, gpu::plan::Plan& merged)> groups = {};
};

/// Runs plans and operators on simulated devices inside this process.
class SimBackend : public harness::Backend {
 public:
  /// The data behind `implementations` must outlive the backend.
  explicit SimBackend(std::span<const gpu::Implementation> implementations, SimEdits edits = {});

  [[nodiscard]] const harness::BackendTraits& traits() const override { return traits_; }
  [[nodiscard]] std::vector<harness::AlgorithmInfo> algorithms() const override {
    return algorithms_.infos();
  }
  [[nodiscard]] std::string why_refused(const harness::Case& c) const override;
  void run(std::span<const harness::Case> stages, harness::Observation& observation) override;

 private:
  /// Stages that run at the same time, [first, last): calls of groups that have no rank in common,
  /// repeated calls of one group, or a history. Operators run alone.
  struct Batch {
    std::size_t first = 0;
    std::size_t last = 0;
  };

  /// Why the simulator takes the case with no algorithm. Empty if that depends on the algorithm.
  [[nodiscard]] std::string why_never(const harness::Case& c) const;
  /// Chooses the algorithm of every stage. Returns false if a stage is refused.
  bool choose_all(std::span<const harness::Case> stages, harness::Observation& observation);
  [[nodiscard]] Batch batch_from(std::span<const harness::Case> stages, std::size_t first) const;
  /// Returns false if the run ends with these stages.
  bool run_batch(const Batch& batch,
                 std::span<const harness::Case> stages,
                 harness::Observation& observation);
  /// Prepares the images of a stage, and appends its ranks to the buffers.
  void fill_images(std::span<const harness::Case> stages,
                   std::size_t stage,
                   harness::Observation& observation);
  /// Gives the simulator dense copies of the buffers of a rank whose elements lie apart.
  void pack(const harness::Case& c, harness::Image& image, gpu::sim::RankBuffers& buffers);
  /// Copies the elements of all dense copies back.
  void unpack();
  /// Keeps the inputs of a rank until it enters. Until then, every bit of its send buffer is wrong.
  void hold_back(gpu::sim::RankBuffers& buffers);
  /// Writes the plan of one stage.
  void write_plan(const gpu::plan::Algorithm& algorithm,
                  const harness::Case& c,
                  gpu::plan::Plan& plan);
  bool run_plans(const Batch& batch,
                 std::span<const harness::Case> stages,
                 harness::Observation& observation);
  bool run_operator(const gpu::Operator& algorithm,
                    std::span<const harness::Case> stages,
                    std::size_t stage,
                    harness::Observation& observation);
  bool settle(const gpu::sim::Report& report,
              const Batch& batch,
              std::span<const harness::Case> stages,
              harness::Observation& observation);

  Algorithms algorithms_;
  /// The algorithm of each stage of the run.
  std::vector<SelectedAlgorithm> selected_;
  SimEdits edits_;
  harness::BackendTraits traits_;
  gpu::plan::Builder builder_;
  gpu::plan::Plan plan_;
  /// The plans of several groups, before they are merged.
  std::vector<gpu::plan::Plan> plans_;
  gpu::sim::Simulator simulator_;
  gpu::sim::SimCluster cluster_;
  std::vector<gpu::sim::RankBuffers> buffers_;
  /// The addresses of elements must stay.
  struct alignas(16) Scalar {
    std::array<std::byte, 16> bytes;
  };
  std::deque<Scalar> scalars_;
  /// The inputs of pending cases, see hold_back(). The addresses of elements must stay.
  std::deque<harness::Image> arriving_;
  /// A dense copy of a strided buffer, and the buffer in its image.
  struct Packed {
    harness::Elements elements;
    std::byte* buffer = nullptr;
    harness::Image dense;
  };
  /// The addresses of elements must stay.
  std::deque<Packed> packed_;
  harness::ImageLayout layout_;
};

/// Opens the backend with every algorithm of gpu/collectives and gpu/ptycho.
[[nodiscard]] std::unique_ptr<harness::Backend> open_sim(const harness::BackendOptions& options);

}  // namespace rankcheck::cases
