#include "gpu/device/nccl/runtime.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::nccl {

namespace {

using Clock = std::chrono::steady_clock;

/// The number of groups whose communicators are kept.
constexpr std::size_t groups_max = 16;

std::string id_text(const ncclUniqueId& id) {
  return {id.internal, sizeof(id.internal)};
}

ncclUniqueId id_of(const std::string& text) {
  ncclUniqueId id{};
  if (text.size() != sizeof(id.internal)) throw std::runtime_error("an id of the wrong size");
  std::memcpy(id.internal, text.data(), sizeof(id.internal));
  return id;
}

int position(const std::vector<int>& group, int world_rank) {
  const auto found = std::find(group.begin(), group.end(), world_rank);
  return found == group.end() ? -1 : static_cast<int>(found - group.begin());
}

/// The elements of one block, or of all blocks.
std::int64_t elements_of(const spec::Call& call) {
  return std::accumulate(call.counts.begin(), call.counts.end(), call.count);
}

bool moves_data(const spec::Call& call) {
  return elements_of(call) > 0;
}

std::string why_unforceable(const Library& nccl, const World& world, const Request& request) {
  const Forcing& forcing = *request.algorithm.forcing;
  if (nccl.version() < 22400) {
    return "algorithm: the log of NCCL " + nccl.version_text() +
           " does not name the algorithm that ran";
  }
  if (request.call.ranks == 1)
    return "ranks: with one rank, NCCL copies the data and uses no algorithm";
  if (forcing.algorithm == "PAT" && !world.shares_devices) {
    return "algorithm: NCCL has PAT only if every rank is on a host of its own";
  }
  // NCCL implements both ops as a sum that also multiplies, by each rank's factor or by 1/n at the
  // end.
  if (forcing.algorithm == "PAT" && collective(request.contract).reduces &&
      (request.call.op == spec::ReduceOp::avg || request.call.op == spec::ReduceOp::premul_sum)) {
    return "op: NCCL's PAT has neither avg nor premul_sum";
  }
  if (forcing.protocol == "LL128" && world.shares_devices) {
    return "algorithm: LL128 is not safe between hosts, and NCCL treats ranks on one device as "
           "hosts";
  }
  // Without NVLink, data may arrive wrong, according to NCCL's documentation of NCCL_PROTO.
  if (forcing.protocol == "LL128" && !world.has_nvlink) {
    return "algorithm: LL128 is safe only over NVLink: NVLink does not connect all devices in use, "
           "or NCCL_P2P_DISABLE or NCCL_P2P_LEVEL disables it";
  }
  return {};
}

}  // namespace

Runtime::Runtime(const Library& nccl, Devices& devices, World world)
    : nccl_(nccl), devices_(devices), world_(std::move(world)) {
  if (!world_.log_path.empty()) log_.emplace(world_.log_path);
  for (int r = 0; r < world_.ranks; ++r) all_.members.push_back(r);
  join(all_, "world");
}

Runtime::~Runtime() {
  if (aborted_) return;
  for (Group& each : groups_) destroy(each);
  destroy(all_);
}

std::string Runtime::why_refused(const Library& nccl, const World& world, const Request& request) {
  const Algorithm& algorithm = request.algorithm;
  for (const std::string_view each : algorithm.functions) {
    if (!nccl.has(each)) {
      return std::string(each) + ": NCCL " + nccl.version_text() + " has no such function";
    }
  }
  if (request.call.op == spec::ReduceOp::premul_sum && !nccl.has("ncclRedOpCreatePreMulSum")) {
    return "op: NCCL " + nccl.version_text() + " has no premul_sum";
  }
  if (request.in_place && algorithm.operation == "all_to_all") {
    return "in_place: NCCL has no all_to_all in place";
  }
  if (algorithm.one_process && world.ranks > world.devices) {
    return "ranks: one process needs a device for each of " + std::to_string(world.ranks) +
           ", found " + std::to_string(world.devices);
  }
  const std::string why = why_unknown(request.call.type, request.call.op, nccl.version());
  if (!why.empty()) return why;
  if (collective(request.contract).reduces && spec::is_f8(request.call.type) &&
      world.least_capability < 90) {
    return "type: NCCL reduces 8-bit floats from compute capability 9.0 on";
  }
  return algorithm.forcing ? why_unforceable(nccl, world, request) : "";
}

int Runtime::slot_of(int world_rank) const {
  return position(world_.local, world_rank);
}

int Runtime::slot_of(const Request& request, const Member& member) const {
  return slot_of(request.group[spec::to_size(member.group_rank)]);
}

template <class Calls>
void Runtime::in_group(Calls calls) {
  nccl_.check(nccl_->ncclGroupStart(), "ncclGroupStart");
  try {
    calls();
  } catch (...) {
    static_cast<void>(nccl_->ncclGroupEnd());
    throw;
  }
  nccl_.check(nccl_->ncclGroupEnd(), "ncclGroupEnd");
}

void Runtime::join(Group& group, const std::string& key) {
  group.communicators.assign(world_.local.size(), nullptr);
  const bool leads = slot_of(group.members.front()) >= 0;
  const bool takes_part = std::any_of(
      group.members.begin(), group.members.end(), [&](int each) { return slot_of(each) >= 0; });
  if (!takes_part) return;
  std::string made;
  if (leads) {
    ncclUniqueId id{};
    nccl_.check(nccl_->ncclGetUniqueId(&id), "ncclGetUniqueId");
    made = id_text(id);
  }
  const ncclUniqueId id = id_of(world_.meet(key, leads ? &made : nullptr));
  const int n = static_cast<int>(group.members.size());
  in_group([&] {
    for (std::size_t s = 0; s < world_.local.size(); ++s) {
      const int rank = position(group.members, world_.local[s]);
      if (rank < 0) continue;
      devices_.use(static_cast<int>(s));
      nccl_.check(nccl_->ncclCommInitRank(&group.communicators[s], n, id, rank),
                  "ncclCommInitRank");
    }
  });
}

void Runtime::split(Group& group) {
  group.communicators.assign(world_.local.size(), nullptr);
  in_group([&] {
    for (std::size_t s = 0; s < world_.local.size(); ++s) {
      const int rank = position(group.members, world_.local[s]);
      devices_.use(static_cast<int>(s));
      nccl_.check(nccl_->ncclCommSplit(all_.communicators[s],
                                       rank < 0 ? NCCL_SPLIT_NOCOLOR : 0,
                                       std::max(rank, 0),
                                       &group.communicators[s],
                                       nullptr),
                  "ncclCommSplit");
    }
  });
}

void Runtime::destroy(Group& group) {
  for (std::size_t s = 0; s < group.communicators.size(); ++s) {
    if (group.communicators[s] == nullptr) continue;
    devices_.use(static_cast<int>(s));
    static_cast<void>(nccl_->ncclCommDestroy(group.communicators[s]));
  }
}

void Runtime::abort() {
  aborted_ = true;
  // Only the current communicators are aborted. Aborting idle ones would free their memory, which
  // waits for the kernels that hang.
  for (ncclComm_t communicator : current_->communicators) {
    if (communicator != nullptr) static_cast<void>(nccl_->ncclCommAbort(communicator));
  }
}

void Runtime::prepare(const Request& request) {
  if (log_) static_cast<void>(log_->news());
  if (request.group == all_.members) {
    current_ = &all_;
    return;
  }
  const auto found = std::find_if(groups_.begin(), groups_.end(), [&](const Group& each) {
    return each.members == request.group;
  });
  if (found != groups_.end()) {
    groups_.splice(groups_.begin(), groups_, found);
  } else {
    if (groups_.size() == groups_max) {
      destroy(groups_.back());
      groups_.pop_back();
    }
    groups_.push_front({request.group, {}});
    ++groups_made_;
    try {
      if (nccl_.has("ncclCommSplit")) {
        split(groups_.front());
      } else {
        join(groups_.front(), "group " + std::to_string(groups_made_));
      }
    } catch (...) {
      // The group has no communicators that a later call could use.
      groups_.pop_front();
      throw;
    }
  }
  current_ = &groups_.front();
}

Part Runtime::part_of(const Request& request, const Member& member) {
  const int slot = slot_of(request, member);
  Part part{.nccl = nccl_,
            .communicator = current_->communicators[spec::to_size(slot)],
            .stream = devices_.stream(slot),
            .rank = member.group_rank,
            .call = request.call,
            .extents = member.extents,
            .send = member.send,
            .recv = member.recv,
            .op = words_of(request.call.op)};
  if (request.contract.synchronises) part.scratch = devices_.allocate(slot, 1);
  if (request.call.op == spec::ReduceOp::premul_sum) {
    devices_.use(slot);
    nccl_.check(nccl_->ncclRedOpCreatePreMulSum(&part.op,
                                                const_cast<std::byte*>(member.scalar),
                                                words_of(request.call.type).type,
                                                ncclScalarHostImmediate,
                                                part.communicator),
                "ncclRedOpCreatePreMulSum");
  }
  return part;
}

Member Runtime::pack(const Request& request, const Member& list) {
  const int slot = slot_of(request, list);
  const std::int64_t bytes = spec::info(request.call.type).bytes;
  const std::int64_t elements = elements_of(request.call);
  Member packed = list;
  if (list.send != nullptr) packed.send = devices_.allocate(slot, elements * bytes);
  if (list.recv != nullptr) packed.recv = devices_.allocate(slot, elements * bytes);
  std::byte* to = packed.send;
  for (const spec::Block& array : list.extents.send) {
    devices_.copy(slot, list.send + array.offset * bytes, to, array.count * bytes);
    to += array.count * bytes;
  }
  return packed;
}

void Runtime::unpack(const Request& request, const Member& packed, const Member& list) {
  const std::int64_t bytes = spec::info(request.call.type).bytes;
  const std::byte* from = packed.recv;
  for (const spec::Block& array : list.extents.recv) {
    devices_.copy(
        slot_of(request, list), from, list.recv + array.offset * bytes, array.count * bytes);
    from += array.count * bytes;
  }
}

void Runtime::call_packed(const Request& request, std::span<const Member> members) {
  const std::int64_t bytes = spec::info(request.call.type).bytes;
  const std::int64_t elements = elements_of(request.call);
  const std::int64_t most = request.chunk > 0 ? request.chunk : elements;
  std::vector<Member> packed;
  for (const Member& each : members) packed.push_back(pack(request, each));
  spec::Call call_of_pack = request.call;
  call_of_pack.counts.clear();
  call_of_pack.gap = 0;
  for (std::int64_t start = 0; start < elements; start += most) {
    call_of_pack.count = std::min(most, elements - start);
    std::vector<Member> parts = packed;
    for (Member& part : parts) {
      if (part.send != nullptr) part.send += start * bytes;
      if (part.recv != nullptr) part.recv += start * bytes;
    }
    call({request.algorithm, request.contract, call_of_pack, request.group}, parts);
  }
  for (std::size_t i = 0; i < packed.size(); ++i) unpack(request, packed[i], members[i]);
}

void Runtime::perform(const Request& request, std::span<const Member> members) {
  if (request.algorithm.packs) return call_packed(request, members);
  call(request, members);
}

void Runtime::call(const Request& request, std::span<const Member> members) {
  if (members.empty()) return;
  std::vector<Part> parts;
  for (const Member& each : members) parts.push_back(part_of(request, each));
  in_group([&] {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      devices_.use(slot_of(request, members[i]));
      request.algorithm.perform(parts[i]);
    }
  });
  wait(request, members);
  if (request.call.op != spec::ReduceOp::premul_sum) return;
  for (const Part& each : parts) {
    nccl_.check(nccl_->ncclRedOpDestroy(each.op, each.communicator), "ncclRedOpDestroy");
  }
}

void Runtime::wait(const Request& request, std::span<const Member> members) {
  const auto begin = Clock::now();
  const std::string call(request.algorithm.functions.front());
  for (int looks = 0;; ++looks) {
    const bool done = std::all_of(members.begin(), members.end(), [&](const Member& each) {
      return devices_.is_done(slot_of(request, each));
    });
    for (const Member& each : members) {
      const auto slot = spec::to_size(slot_of(request, each));
      ncclResult_t state = ncclSuccess;
      nccl_.check(nccl_->ncclCommGetAsyncError(current_->communicators[slot], &state),
                  "ncclCommGetAsyncError");
      if (state == ncclSuccess || state == ncclInProgress) continue;
      throw Error(call + ": an asynchronous error: " + nccl_->ncclGetErrorString(state),
                  ncclRemoteError);
    }
    if (done) return;
    if (Clock::now() - begin > world_.patience) {
      abort();
      throw Hang(call + " did not finish in time; its communicators were aborted");
    }
    // Small calls finish at once. A longer wait must not occupy a core.
    constexpr int looks_without_sleep = 200;
    if (looks > looks_without_sleep)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else
      std::this_thread::yield();
  }
}

std::string Runtime::conclude(const Request& request, std::span<const Member> members) {
  const bool has_first = std::any_of(
      members.begin(), members.end(), [](const Member& each) { return each.group_rank == 0; });
  if (request.algorithm.forcing && has_first) {
    if (!log_) throw std::runtime_error("forced, but NCCL writes no log that confirms it");
    require_forced(*request.algorithm.forcing, log_->news(), moves_data(request.call));
  }
  return request.algorithm.name;
}

}  // namespace rankcheck::gpu::nccl
