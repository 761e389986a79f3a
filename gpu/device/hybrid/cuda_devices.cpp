#include <string>

#include "gpu/device/cuda/cluster.hpp"
#include "gpu/device/cuda/devices.hpp"
#include "gpu/device/cuda/error.hpp"
#include "gpu/device/cuda/fft_library.hpp"
#include "gpu/device/cuda/presence.hpp"
#include "gpu/device/driver_release.hpp"
#include "gpu/device/hybrid/devices.hpp"

namespace rankcheck::gpu::hybrid {

namespace {

/// CUDA devices. The work of a place is on a stream of its own.
class CudaDevices final : public Devices {
 public:
  CudaDevices(int count, int first)
      // The collectives of this cluster are not used: they would serve one process only.
      : devices_(count, first), cluster_(devices_, nullptr, nullptr) {}

  void begin(std::span<const int> devices) override { cluster_.begin(devices); }
  void end() override {}
  Cluster& cluster() override { return cluster_; }

  void combine(int place, const Combination& what) override { devices_.combine(place, what); }
  void record(int place, std::int32_t event) override { devices_.record(place, event); }
  void wait(int place, std::int32_t event) override { devices_.wait(place, event); }
  void synchronize() override { devices_.synchronize(); }

  [[nodiscard]] bool still_work() const override { return devices_.still_work(); }
  [[nodiscard]] bool has_cuda_memory() const override { return true; }
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> versions() const override;

 private:
  cuda::Devices devices_;
  cuda::CudaCluster cluster_;
};

std::vector<std::pair<std::string, std::string>> CudaDevices::versions() const {
  int driver = 0;
  int runtime = 0;
  int count = 0;
  cuda::check(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  cuda::check(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  cuda::check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  std::string names;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    cuda::check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    names += (names.empty() ? "" : ", ") + std::string(properties.name);
  }
  std::vector<std::pair<std::string, std::string>> all{
      {"devices", "cuda: " + names},
      {"cuda_driver", cuda::version_text(driver)},
      {"cuda_runtime", cuda::version_text(runtime)},
      {"cufft", cuda::fft_library().version_text()},
      {"cufft_library", cuda::fft_library().text()}};
  if (const auto release = driver_release(); !release.empty())
    all.emplace_back("nvidia_driver", release);
  if (cuda::on_host()) all.emplace_back("memory", "host: a stand-in, not CUDA");
  return all;
}

}  // namespace

std::unique_ptr<Devices> make_devices(int count, int first) {
  return std::make_unique<CudaDevices>(count, first);
}

std::vector<std::string> device_complaints() {
  return cuda::complaints();
}

}  // namespace rankcheck::gpu::hybrid
