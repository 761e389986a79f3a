#pragma once

#include <memory>

#include "gpu/device/nccl/runtime.hpp"

#include "harness/worker/serve.hpp"

namespace rankcheck::cases {

/// Joins the world and returns its local ranks, which run cases. `library` must outlive them.
[[nodiscard]] std::unique_ptr<harness::worker::Subject> join_nccl(const gpu::nccl::Library& library,
                                                                  gpu::nccl::World world);

}  // namespace rankcheck::cases
