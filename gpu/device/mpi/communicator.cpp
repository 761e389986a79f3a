#include "gpu/device/mpi/communicator.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "gpu/device/mpi/error.hpp"
#include "gpu/device/mpi/interposer.hpp"

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

bool Communicators::keeps(const std::vector<int>& world_ranks, int segment_bytes) {
  return is_prefix(world_ranks) && segment_bytes == 0;
}

MPI_Comm Communicators::find(const std::vector<int>& world_ranks,
                             const std::string& label,
                             int segment_bytes) const {
  if (keeps(world_ranks, segment_bytes)) {
    const auto found = kept_.find(std::pair(world_ranks.size(), label));
    if (found != kept_.end()) return found->second.get();
  }
  const auto held = std::find_if(passing_.begin(), passing_.end(), [&](const Passing& each) {
    return each.world_ranks == world_ranks && each.label == label &&
           each.segment_bytes == segment_bytes;
  });
  return holds_ && held != passing_.end() ? held->communicator.get() : MPI_COMM_NULL;
}

MPI_Comm Communicators::add(Passing made) {
  if (keeps(made.world_ranks, made.segment_bytes)) {
    const auto key = std::pair(made.world_ranks.size(), made.label);
    return kept_.emplace(key, std::move(made.communicator)).first->second.get();
  }
  passing_.push_back(std::move(made));
  return passing_.back().communicator.get();
}

MPI_Comm Communicators::get(const std::vector<int>& world_ranks,
                            const Forcing* forced,
                            int segment_bytes) {
  const std::string label = forced == nullptr ? std::string() : forced->label();
  const MPI_Comm found = find(world_ranks, label, segment_bytes);
  if (found != MPI_COMM_NULL) return found;
  std::optional<SettingScope> scope;
  if (forced != nullptr) scope.emplace(settings_of(*forced, segment_bytes), forced->word);
  Communicator made(world_ranks);
  if (!keeps(world_ranks, segment_bytes)) end_call();
  return add({world_ranks, label, segment_bytes, std::move(made)});
}

MPI_Comm Communicators::get_second(const std::vector<int>& world_ranks) {
  // No forced algorithm has this label.
  const std::string label = "second";
  const MPI_Comm found = find(world_ranks, label, 0);
  return found != MPI_COMM_NULL ? found : add({world_ranks, label, 0, Communicator(world_ranks)});
}

void Communicators::end_call() {
  if (!holds_) passing_.clear();
}

void Communicators::forget(const std::vector<int>& world_ranks) {
  std::erase_if(passing_, [&](const Passing& each) { return each.world_ranks == world_ranks; });
  if (!is_prefix(world_ranks)) return;
  std::erase_if(kept_, [&](const auto& each) { return each.first.first == world_ranks.size(); });
}

void Communicators::release() {
  holds_ = false;
  end_call();
}

}  // namespace rankcheck::gpu::mpi
