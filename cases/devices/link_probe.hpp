#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "gpu/device/cuda/link.hpp"

/// The JSON in which rankcheck-worker-cuda describes devices, and takes and answers probes of
/// links. The worker and the main program share these types.
namespace rankcheck::cases::hardware {

using Device = gpu::cuda::DeviceInfo;

[[nodiscard]] nlohmann::ordered_json to_json(const Device& device);
/// Throws harness::BadInput that names the field.
[[nodiscard]] Device device_from_json(const nlohmann::json& json);

struct ProbeRequest {
  /// The numbers of physical devices, which may be equal.
  int from = 0;
  int to = 0;
  /// The most bytes of each buffer.
  std::int64_t bytes = 0;
  gpu::cuda::LinkProbe probe = {};
};

[[nodiscard]] nlohmann::ordered_json to_json(const ProbeRequest& request);
/// Throws harness::BadInput that names the field.
[[nodiscard]] ProbeRequest request_from_json(const nlohmann::json& json);

[[nodiscard]] nlohmann::ordered_json to_json(const gpu::cuda::LinkResult& result);
/// Throws harness::BadInput that names the field.
[[nodiscard]] gpu::cuda::LinkResult result_from_json(const nlohmann::json& json);

}  // namespace rankcheck::cases::hardware
