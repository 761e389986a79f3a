#include "gpu/device/mpi/communicator.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "gpu/device/mpi/error.hpp"
#include "gpu/device/mpi/witness.hpp"

namespace rankcheck::gpu::mpi {

namespace {

bool is_prefix(const std::vector<int>& world_ranks) {
  for (std::size_t i = 0; i < world_ranks.size(); ++i) {
    if (world_ranks[i] != static_cast<int>(i)) return false;
  }
  return true;
}

}  // namespace

std::intptr_t word_of(MPI_Comm communicator) {
  std::intptr_t word = 0;
  static_assert(sizeof communicator <= sizeof word);
  std::memcpy(&word, &communicator, sizeof communicator);
  return word;
}

Communicator::Communicator(const std::vector<int>& world_ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  constexpr int tag = 0;
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(MPI_Group_incl(world, static_cast<int>(world_ranks.size()), world_ranks.data(), &group),
        "MPI_Group_incl");
  check(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &value_), "MPI_Comm_create_group");
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  check(MPI_Comm_set_errhandler(value_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  // The memory of an earlier communicator may be used again.
  forget_uses(word_of(value_));
}

Communicator::~Communicator() {
  if (value_ != MPI_COMM_NULL) MPI_Comm_free(&value_);
}

MPI_Comm Communicators::get(const std::vector<int>& world_ranks,
                            const Forcing* forced,
                            int segment_bytes) {
  const bool keeps = is_prefix(world_ranks) && segment_bytes == 0;
  const std::string label = forced == nullptr ? std::string() : forced->label();
  const auto key = std::pair(world_ranks.size(), label);
  if (keeps) {
    const auto found = kept_.find(key);
    if (found != kept_.end()) return found->second.get();
  }
  const auto held = std::find_if(passing_.begin(), passing_.end(), [&](const Passing& each) {
    return each.world_ranks == world_ranks && each.label == label &&
           each.segment_bytes == segment_bytes;
  });
  if (holds_ && held != passing_.end()) return held->communicator.get();
  std::optional<ForcedScope> scope;
  if (forced != nullptr) scope.emplace(*forced, segment_bytes);
  Communicator made(world_ranks);
  if (keeps) return kept_.emplace(key, std::move(made)).first->second.get();
  end_call();
  passing_.push_back({world_ranks, label, segment_bytes, std::move(made)});
  return passing_.back().communicator.get();
}

void Communicators::end_call() {
  if (!holds_) passing_.clear();
}

void Communicators::release() {
  holds_ = false;
  end_call();
}

}  // namespace rankcheck::gpu::mpi
