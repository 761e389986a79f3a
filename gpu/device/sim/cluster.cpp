#include "gpu/device/sim/cluster.hpp"

#include <cstring>
#include <numeric>
#include <string>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::sim {

void SimCluster::begin(int ranks, plan::Schedule schedule, std::optional<Fault> fault) {
  ranks_.resize(spec::to_size(ranks));
  std::iota(ranks_.begin(), ranks_.end(), 0);
  schedule_ = schedule;
  fault_ = fault;
  status_ = Status::completed;
  fault_fired_ = fault_changed_ = false;
  memories_.resize(ranks_.size());
  for (host::Memory& memory : memories_) memory.clear();
}

void SimCluster::end() {
  for (std::size_t r = 0; r < memories_.size(); ++r) {
    if (const std::string damage = memories_[r].find_damage(); !damage.empty()) {
      throw DeviceError("rank " + std::to_string(r) + ": " + damage);
    }
  }
}

std::byte* SimCluster::allocate(int rank, std::int64_t bytes) {
  return memories_[spec::to_size(rank)].allocate(bytes);
}

void SimCluster::read(int /*rank*/, const void* from, void* to, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, spec::to_size(bytes));
}

void SimCluster::write(int /*rank*/, const void* from, void* to, std::int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, spec::to_size(bytes));
}

void SimCluster::transform(int /*rank*/, const Transform& transform, const void* in, void* out) {
  fft_.run(transform, in, out);
}

void SimCluster::check_room(std::size_t rank,
                            std::string_view operation,
                            const std::byte* buffer,
                            std::int64_t bytes) const {
  if (bytes == 0) return;
  const std::int64_t room = memories_[rank].room(buffer);
  if (room >= bytes) return;
  throw DeviceError("rank " + std::to_string(rank) + ": " + std::string(operation) + " needs " +
                    std::to_string(bytes) + " bytes, but the device has " +
                    (room < 0 ? "no memory" : std::to_string(room)));
}

void SimCluster::collective(std::string_view operation,
                            const spec::Call& call,
                            bool in_place,
                            std::span<const DeviceBuffers> buffers) {
  const spec::Contract& contract = contract_of_(operation);
  const plan::Options options{.in_place = in_place};
  const std::int64_t bytes = spec::info(call.type).bytes;
  if (call.ranks != ranks() || buffers.size() != ranks_.size()) {
    throw DeviceError(std::string(operation) + ": a call of " + std::to_string(call.ranks) +
                      " ranks with buffers of " + std::to_string(buffers.size()) +
                      " does not fit a cluster of " + std::to_string(ranks()));
  }
  buffers_.clear();
  for (std::size_t r = 0; r < buffers.size(); ++r) {
    extents_ = {};
    fill_extents(contract, call, static_cast<int>(r), extents_);
    buffers_.push_back({.send = buffers[r].send,
                        .recv = buffers[r].recv,
                        .send_bytes = buffers[r].send == nullptr ? 0 : extents_.send_size * bytes,
                        .recv_bytes = buffers[r].recv == nullptr ? 0 : extents_.recv_size * bytes});
    check_room(r, operation, buffers_.back().send, buffers_.back().send_bytes);
    check_room(r, operation, buffers_.back().recv, buffers_.back().recv_bytes);
  }
  const plan::Algorithm* const algorithm = algorithm_for_(operation, call, options);
  if (algorithm == nullptr) {
    throw DeviceError("no algorithm of " + std::string(operation) + " supports the call");
  }
  builder_.begin(plan_, contract, call, options);
  algorithm->plan(builder_);
  const Report& report = simulator_.run(plan_, buffers_, schedule_, fault_);
  fault_fired_ |= report.fault_fired;
  fault_changed_ |= report.fault_changed;
  status_ = report.status;
  if (status_ != Status::completed) throw DeviceError(report.text);
}

}  // namespace rankcheck::gpu::sim
