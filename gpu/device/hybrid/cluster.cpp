#include "gpu/device/hybrid/cluster.hpp"

#include <string>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::hybrid {

HybridCluster::HybridCluster(Processes& processes,
                             Devices& devices,
                             const Placement& placement,
                             ContractLookup contract_of,
                             plan::AlgorithmLookup algorithm_for)
    : processes_(processes),
      devices_(devices),
      placement_(placement),
      contract_of_(contract_of),
      algorithm_for_(algorithm_for),
      runner_(processes, devices) {}

void HybridCluster::begin(std::span<const int> group) {
  members_ = members_of(placement_, group, processes_.rank());
  local_.assign(members_.size(), -1);
  std::vector<int> devices(members_.size());
  std::size_t places = 0;
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    const Member& member = members_[rank];
    if (member.place < 0) continue;
    local_[spec::to_size(member.place)] = static_cast<int>(rank);
    devices[spec::to_size(member.place)] = member.device;
    ++places;
  }
  RANKCHECK_ASSERT(places > 0);
  local_.resize(places);
  devices.resize(places);
  devices_.begin(devices);
  runner_.begin(places);
  scratch_.clear();
}

void HybridCluster::end() {
  devices_.synchronize();
  devices_.end();
}

int HybridCluster::place_of(int rank) const {
  return members_[spec::to_size(rank)].place;
}

void HybridCluster::collective(std::string_view operation,
                               const spec::Call& call,
                               bool in_place,
                               std::span<const DeviceBuffers> buffers) {
  const plan::Options options{.in_place = in_place};
  const plan::Algorithm* const algorithm = algorithm_for_(operation, call, options);
  if (algorithm == nullptr) {
    throw DeviceError("no algorithm of " + std::string(operation) + " supports the call");
  }
  std::vector<Buffers> all;
  for (const DeviceBuffers& each : buffers) all.push_back({.data = each});
  perform({.contract = contract_of_(operation),
           .call = call,
           .options = options,
           .algorithm = *algorithm},
          all,
          {});
}

void HybridCluster::perform(const CollectiveCall& call,
                            std::span<const Buffers> buffers,
                            const Observer& observer) {
  if (call.call.ranks != ranks() || buffers.size() != local_.size()) {
    throw DeviceError(
        std::string(call.contract.name) + ": a call of " + std::to_string(call.call.ranks) +
        " ranks with buffers of " + std::to_string(buffers.size()) + " does not fit a cluster of " +
        std::to_string(ranks()) + " with " + std::to_string(local_.size()) + " in this process");
  }
  builder_.begin(plan_, call.contract, call.call, call.options);
  call.algorithm.plan(builder_);
  std::vector<RankMemory> memory(members_.size());
  for (std::size_t place = 0; place < local_.size(); ++place) {
    const auto rank = spec::to_size(local_[place]);
    const std::int64_t bytes = plan_.scratch[rank] * spec::info(call.call.type).bytes;
    memory[rank] = {.send = buffers[place].data.send,
                    .recv = buffers[place].data.recv,
                    .scratch = bytes > 0 ? scratch_.get(local_[place], bytes) : nullptr,
                    .scalar = buffers[place].scalar};
  }
  runner_.run({.plan = plan_,
               .type = call.call.type,
               .op = call.call.op,
               .members = members_,
               .memory = memory,
               .transport = call.transport,
               .synchronises = call.contract.synchronises,
               .entering = observer.entering,
               .left = observer.left});
}

}  // namespace rankcheck::gpu::hybrid
