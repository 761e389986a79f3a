#include "gpu/device/cluster.hpp"
#include "gpu/device/hybrid/devices.hpp"
#include "gpu/device/sim/cluster.hpp"
#include "gpu/device/sim/combine.hpp"

namespace rankcheck::gpu::hybrid {

namespace {

/// Simulated devices. Work is done as soon as it is given, so nothing has to wait.
class SimDevices final : public Devices {
 public:
  void begin(std::span<const int> devices) override {
    cluster_.begin(static_cast<int>(devices.size()), {}, {});
  }
  void end() override { cluster_.end(); }
  Cluster& cluster() override { return cluster_; }

  void combine(int /*place*/, const Combination& what) override { sim::combine(what); }
  void record(int /*place*/, std::int32_t /*event*/) override {}
  void wait(int /*place*/, std::int32_t /*event*/) override {}
  void synchronize() override {}

  [[nodiscard]] bool still_work() const override { return true; }
  [[nodiscard]] bool has_cuda_memory() const override { return false; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> versions() const override {
    return {{"devices", "sim"}};
  }

 private:
  // The collectives of this cluster are not used: they would serve one process only.
  sim::SimCluster cluster_{nullptr, nullptr};
};

}  // namespace

std::unique_ptr<Devices> make_devices(int /*count*/, int /*first*/) {
  return std::make_unique<SimDevices>();
}

std::vector<std::string> device_complaints() {
  return {};
}

}  // namespace rankcheck::gpu::hybrid
