#include "gpu/device/hybrid/cluster.hpp"

#include <algorithm>
#include <string>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/plan/merge.hpp"

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
  const CollectiveCall made{.contract = contract_of_(operation),
                            .call = call,
                            .options = options,
                            .algorithm = *algorithm};
  perform({&made, 1}, {}, all, {});
}

void HybridCluster::perform(std::span<const CollectiveCall> calls,
                            Order order,
                            std::span<const Buffers> buffers,
                            const Observer& observer) {
  std::vector<Transport> transports;
  for (const CollectiveCall& each : calls) {
    transports.insert(transports.end(), spec::to_size(each.call.ranks), each.transport);
  }
  if (transports.size() != members_.size() || buffers.size() != local_.size()) {
    throw DeviceError(std::string(calls.front().contract.name) + ": a call of " +
                      std::to_string(transports.size()) + " ranks with buffers of " +
                      std::to_string(buffers.size()) + " does not fit a cluster of " +
                      std::to_string(ranks()) + " with " + std::to_string(local_.size()) +
                      " in this process");
  }
  const auto write_plan = [&](const CollectiveCall& call, plan::Plan& plan) {
    builder_.begin(plan, call.contract, call.call, call.options);
    call.algorithm.plan(builder_);
  };
  if (calls.size() == 1) {
    write_plan(calls.front(), plan_);
  } else {
    plans_.resize(calls.size());
    for (std::size_t k = 0; k < calls.size(); ++k) write_plan(calls[k], plans_[k]);
    merge(plans_, plan_);
    plan_.order.assign(order.begin(), order.end());
  }
  std::vector<RankMemory> memory(members_.size());
  for (std::size_t place = 0; place < local_.size(); ++place) {
    const auto rank = spec::to_size(local_[place]);
    const std::int64_t bytes = plan_.scratch[rank] * plan_.arithmetic[rank].element_bytes();
    memory[rank] = {.send = buffers[place].data.send,
                    .recv = buffers[place].data.recv,
                    .scratch = bytes > 0 ? scratch_.get(local_[place], bytes) : nullptr,
                    .scalar = buffers[place].scalar};
  }
  runner_.run(
      {.plan = plan_,
       .members = members_,
       .memory = memory,
       .transports = transports,
       .synchronises = std::any_of(
           calls.begin(), calls.end(), [](const auto& each) { return each.contract.synchronises; }),
       .entering = observer.entering,
       .left = observer.left});
}

}  // namespace rankcheck::gpu::hybrid
