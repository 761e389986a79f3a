#include "gpu/device/mpi/cluster.hpp"

#include <cstring>
#include <string>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::mpi {

void MpiCluster::begin(const std::vector<int>& group, int group_rank) {
  group_ = group;
  rank_ = group_rank;
  memory_.clear();
}

void MpiCluster::end() {
  if (const std::string damage = memory_.find_damage(); !damage.empty()) {
    throw DeviceError("rank " + std::to_string(rank_) + ": " + damage);
  }
}

std::byte* MpiCluster::allocate(int /*rank*/, std::int64_t bytes) {
  return memory_.allocate(bytes);
}

void MpiCluster::read(int /*rank*/, const void* from, void* to, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, spec::to_size(bytes));
}

void MpiCluster::write(int /*rank*/, const void* from, void* to, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, spec::to_size(bytes));
}

void MpiCluster::transform(int /*rank*/, const Transform& transform, const void* in, void* out) {
  fft_.run(transform, in, out);
}

void MpiCluster::collective(std::string_view operation,
                            const spec::Call& call,
                            bool in_place,
                            std::span<const DeviceBuffers> buffers) {
  const Algorithm* algorithm = runtime_.find(operation, {});
  if (algorithm == nullptr) throw DeviceError("MPI has no " + std::string(operation));
  const spec::Contract& contract = contract_of_(operation);
  const Request request{.algorithm = *algorithm,
                        .contract = contract,
                        .call = call,
                        .group = group_,
                        .in_place = in_place};
  if (const std::string why = runtime_.why_refused(request); !why.empty()) throw DeviceError(why);
  spec::Extents extents;
  fill_extents(contract, call, rank_, extents);
  runtime_.prepare(request);
  runtime_.perform(request, rank_, extents, {.send = buffers[0].send, .recv = buffers[0].recv});
  // A plain call leaves the algorithm to the library, so the name is not needed here.
  static_cast<void>(runtime_.conclude(request, false));
}

}  // namespace rankcheck::gpu::mpi
