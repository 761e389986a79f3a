#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include "reference/spec/to_size.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/backend/stages.hpp"
#include "harness/base/path.hpp"
#include "harness/case/family.hpp"
#include "harness/case/image.hpp"
#include "harness/case/image_description.hpp"
#include "harness/worker/session.hpp"
#include "harness/worker/session_parts.hpp"

/// Runs of a session: what is sent to the workers, and what their answers or their silence mean.
namespace rankcheck::harness::worker {

namespace {

/// Limits of the time that the other ranks get after one of them has failed.
constexpr std::chrono::milliseconds failure_patience_min{250};
constexpr std::chrono::seconds failure_patience_max{2};
/// An image that is too large by a little is still read, so that it can be described.
constexpr std::uint64_t surplus_bytes = 4096;

/// The bytes of a buffer in an image. Blocks are runs that the operation reads or writes.
nlohmann::ordered_json describe_buffer(const Case& c,
                                       int group_rank,
                                       const std::vector<spec::Block>& blocks,
                                       std::int64_t offset,
                                       const Elements& elements) {
  const std::int64_t bytes = spec::info(c.type).bytes;
  const Family& family = *find_family(c.operation);
  nlohmann::ordered_json runs = nlohmann::ordered_json::array();
  nlohmann::ordered_json arrays = nlohmann::ordered_json::array();
  for (const spec::Block& block : blocks) {
    runs.push_back({block.offset * bytes, block.count * bytes});
    nlohmann::ordered_json array = family.describe_block(c, group_rank, block);
    if (!array.is_null()) arrays.push_back(std::move(array));
  }
  nlohmann::ordered_json out{
      {"offset", offset}, {"bytes", elements.count * bytes}, {"blocks", std::move(runs)}};
  if (elements.stride != 1) out["stride"] = elements.stride;
  if (!arrays.empty()) out["arrays"] = std::move(arrays);
  return out;
}

/// What a worker needs to know to make the call for one of its members, whose image it gets.
nlohmann::ordered_json describe_member(const Case& c,
                                       int world_rank,
                                       int group_rank,
                                       const ImageLayout& layout) {
  nlohmann::ordered_json out{{"rank", world_rank}, {"place", group_rank}, {"image", layout.size}};
  const spec::Extents& extents = layout.extents;
  if (layout.send >= 0) {
    out["send"] =
        describe_buffer(c, group_rank, extents.send, layout.send, send_elements(c, layout));
  }
  if (layout.recv >= 0) {
    out["recv"] =
        describe_buffer(c, group_rank, extents.recv, layout.recv, recv_elements(c, layout));
  }
  out.update(find_family(c.operation)->extras(c, world_rank));
  return out;
}

/// The inputs that a user gave, as the payload of a run, and their sizes. Empty if there are none.
std::vector<std::span<const std::byte>> given_parts(const GivenInputs* given,
                                                    nlohmann::ordered_json& header) {
  std::vector<std::span<const std::byte>> parts;
  if (given == nullptr) return parts;
  parts.assign(given->send.begin(), given->send.end());
  parts.emplace_back(given->scalars);
  header["given"] = nlohmann::ordered_json::array();
  for (const auto& part : parts) header["given"].push_back(part.size());
  return parts;
}

std::string describe_wrong_image(const std::vector<int>& ranks,
                                 int world_rank,
                                 std::size_t stage,
                                 const ImageLayout& layout,
                                 std::optional<std::size_t> size) {
  return fmt::format("{}: breaks the worker protocol: rank {} after stage {}: expected an {}",
                     title(ranks),
                     world_rank,
                     stage,
                     size ? describe_wrong_size(layout, *size)
                          : fmt::format("image of {} bytes, got none", layout.size));
}

/// Whether one of these world ranks is a member.
bool has_member(const Case& c, const std::vector<int>& ranks) {
  return std::ranges::any_of(ranks, [&](int rank) { return place_in_group(c, rank) >= 0; });
}

/// Which of several processes' statuses is that of the run. A process may hang because another one
/// failed, and may refuse what others cannot.
int precedence(RunStatus status) {
  if (status == RunStatus::refused) return 0;
  return status == RunStatus::hung ? 1 : 2;
}

}  // namespace

std::chrono::nanoseconds failure_patience(std::chrono::nanoseconds took) {
  return std::clamp<std::chrono::nanoseconds>(4 * took, failure_patience_min, failure_patience_max);
}

void Session::run(std::span<const Case> stages, Observation& observation) {
  observation.clear();
  observation.path.assign(stages.size(), {});
  ++run_;
  entered_.clear();
  for (std::size_t first = 0; first < stages.size(); first += part_.count) {
    part_ = part_from(stages, first);
    if (!send_run(stages, observation)) break;
    await_results(stages, observation);
    if (usable_) merge(stages, observation);
    if (!usable_ || observation.status != RunStatus::completed) break;
  }
  // Threads that a failed call left behind may still write to the file.
  if (file_ != nullptr && observation.status == RunStatus::failed) file_ = SharedFile::make();
}

Session::Part Session::part_from(std::span<const Case> stages, std::size_t first) const {
  if (!hello_.takes_inputs) return {.first = first, .count = stages.size()};
  // A process with several ranks makes one call after another, unless it reads all messages first.
  const bool has_several =
      std::ranges::any_of(peers_, [](const Peer& p) { return p.ranks.size() > 1; });
  if (has_several && !hello_.takes_together) return {.first = first, .count = 1};
  // If the messages did not fit into the buffers of a socket, a process that does not read them
  // first would wait until its first result is read, while this waits until it reads the next one.
  const std::int64_t buffered_bytes = hello_.takes_together ? 4 << 20 : 64 << 10;
  std::int64_t bytes = 0;
  std::size_t end = first;
  for (; end < stages.size(); ++end) {
    const Case& c = stages[end];
    const spec::Contract* const contract = options_.contract_of(c.operation);
    // Its inputs may be the results of earlier stages.
    if (contract == nullptr || c.input == InputKind::previous) break;
    if (family_of(*contract).is_chained(c)) break;
    bytes += static_cast<std::int64_t>(surplus_bytes) + bytes_of_images(*contract, c);
    if (bytes > buffered_bytes) break;
  }
  return {.first = first, .count = std::max(end_of_stages_at_once(stages, first), end) - first};
}

nlohmann::ordered_json Session::stage_for(Peer& peer,
                                          std::span<const Case> stages,
                                          std::size_t stage,
                                          const Observation& observation,
                                          std::vector<Image>& images) {
  const std::size_t k = stage;
  const Case& c = stages[k];
  const std::vector<int> group = members(c);
  const auto contract_of = [this](std::string_view name) -> const spec::Contract& {
    return *options_.contract_of(name);
  };
  const Hosting all{.contract_of = contract_of, .result_place = hello_.traits.result_place};
  nlohmann::ordered_json header{{"run", run_},
                                {"stage", k},
                                {"stages", stages.size()},
                                {"case", to_json(c)},
                                {"group", group},
                                {"members", nlohmann::ordered_json::array()}};
  SentStage& sent = peer.sent.emplace_back(SentStage{.stage = k});
  for (std::size_t g = 0; g < group.size(); ++g) {
    if (std::ranges::count(peer.ranks, group[g]) == 0) continue;
    const int rank = static_cast<int>(g);
    // Stages that are sent together do not take each other's results.
    const std::span<const StageOutcome> done(observation.stages.data(), part_.first);
    prepare_after(all, stages, k, rank, done, layout_, scratch_);
    nlohmann::ordered_json member = describe_member(c, group[g], rank, layout_);
    const Place place = sent.places.emplace_back(place_in_file(peer, scratch_));
    if (place.size > 0) {
      header["file"] = file_->path();
      member["offset"] = place.offset;
    } else {
      images.push_back(std::move(scratch_));
    }
    header["members"].push_back(std::move(member));
  }
  return header;
}

Session::Place Session::place_in_file(const Peer& peer, const Image& image) {
  if (!peer.takes_file || file_ == nullptr || image.size() < options_.shared_bytes_min) return {};
  const Place place{.offset = file_end_, .size = image.size()};
  if (!file_->reserve(place.offset + place.size)) return {};
  std::copy(image.begin(),
            image.end(),
            file_->bytes().begin() + static_cast<std::ptrdiff_t>(place.offset));
  const std::size_t pages = (place.size + SharedFile::alignment - 1) / SharedFile::alignment;
  file_end_ += pages * SharedFile::alignment;
  return place;
}

bool Session::send_run(std::span<const Case> stages, Observation& observation) {
  for (Peer& peer : peers_) {
    peer.pending = hello_.everyone;
    peer.payload_bytes_max = 0;
    peer.sent.clear();
  }
  std::uint64_t image_bytes = 0;
  for (const Case& c : stages.subspan(part_.first, part_.count)) {
    const spec::Contract* contract = options_.contract_of(c.operation);
    if (contract == nullptr || c.ranks > hello_.traits.ranks_max) {
      observation.status = RunStatus::refused;
      observation.reason = contract == nullptr ? "no operation " + c.operation : why_refused(c);
      return false;
    }
    const std::vector<int> group = members(c);
    for (std::size_t g = 0; g < group.size(); ++g) {
      Peer& peer = *peer_of(group[g]);
      lay_out(*contract, c, static_cast<int>(g), hello_.traits.result_place, layout_);
      peer.pending = true;
      peer.payload_bytes_max += 2 * static_cast<std::uint64_t>(layout_.size) + surplus_bytes;
      image_bytes += static_cast<std::uint64_t>(layout_.size);
    }
  }
  patience_ = whole(options_.run_timeout) +
              std::chrono::seconds(static_cast<std::int64_t>(image_bytes / image_bytes_per_second));
  return hello_.takes_inputs ? send_stages(stages, observation) : send_derived(stages, observation);
}

bool Session::send_derived(std::span<const Case> stages, Observation& observation) {
  nlohmann::ordered_json header{{"run", run_}, {"stages", nlohmann::ordered_json::array()}};
  for (const Case& c : stages) header["stages"].push_back(to_json(c));
  const auto given = given_parts(stages.front().given.get(), header);
  for (Peer& peer : peers_) {
    send_end_ = options_.now() + patience_;
    if (!peer.pending || peer.connection.send(header, given)) continue;
    give_up_sending(peer, stages, observation);
    return false;
  }
  return true;
}

bool Session::has_stage(const Peer& peer, const Case& c) const {
  return has_member(c, peer.ranks) || hello_.everyone;
}

bool Session::send_stages(std::span<const Case> stages, Observation& observation) {
  file_end_ = 0;
  for (Peer& peer : peers_) {
    peer.result.clear();
    peer.result.path.assign(part_.count, {});
    peer.result.stages.assign(part_.count, {});
  }
  const auto part = stages.subspan(part_.first, part_.count);
  for (std::size_t k = part_.first; k < part_.first + part_.count; ++k) {
    for (Peer& peer : peers_) {
      if (!has_stage(peer, stages[k])) continue;
      std::vector<Image> images;
      nlohmann::ordered_json header = stage_for(peer, stages, k, observation, images);
      if (hello_.takes_together && part_.count > 1) {
        const auto has = [&](const Case& c) { return has_stage(peer, c); };
        const std::ptrdiff_t together = std::ranges::count_if(part, has);
        if (together > 1) header["together"] = together;
      }
      const std::vector<std::span<const std::byte>> parts(images.begin(), images.end());
      send_end_ = options_.now() + patience_;
      if (peer.connection.send(std::move(header), parts)) continue;
      give_up_sending(peer, stages, observation);
      return false;
    }
  }
  return true;
}

void Session::await_results(std::span<const Case> stages, Observation& observation) {
  const auto begin = options_.now();
  const auto end = begin + run_timeouts_max * patience_;
  auto deadline = begin + patience_;
  bool failed = false;
  std::vector<pollfd> entries;
  while (std::ranges::any_of(peers_, [](const Peer& peer) { return peer.pending; })) {
    require_no_stop();
    entries.clear();
    for (const Peer& peer : peers_) {
      const int descriptor = peer.pending ? peer.connection.descriptor() : -1;
      entries.push_back({.fd = descriptor, .events = POLLIN, .revents = 0});
    }
    process_->add_outputs(entries);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - options_.now());
    const auto wait = std::clamp(left, std::chrono::milliseconds(0), stop_tick);
    const int ready = ::poll(entries.data(), entries.size(), static_cast<int>(wait.count()));
    const bool is_printing =
        std::any_of(entries.begin() + static_cast<std::ptrdiff_t>(peers_.size()),
                    entries.end(),
                    [](const pollfd& each) { return each.revents != 0; });
    if (is_printing) process_->drain();
    bool heard = false;
    for (std::size_t i = 0; ready > 0 && i < peers_.size(); ++i) {
      if (entries[i].revents == 0) continue;
      Peer& peer = peers_[i];
      if (!peer.connection.fill()) {
        return give_up(observation, RunStatus::crashed, describe_death(peer, stages));
      }
      if (!take_frames(peer, observation, heard)) return;
      failed = failed || (!peer.pending && (peer.result.status == RunStatus::failed ||
                                            peer.result.status == RunStatus::hung));
    }
    const auto now = options_.now();
    if (heard) {
      deadline = now + (failed ? std::min<Clock::duration>(patience_, failure_patience(now - begin))
                               : patience_);
    }
    if (now < std::min(deadline, end)) continue;
    if (failed) {
      usable_ = false;
      return merge(stages, observation);
    }
    const auto limit = (now < end ? 1 : run_timeouts_max) * patience_;
    return give_up(observation, RunStatus::hung, describe_hang(stages, limit));
  }
}

bool Session::take_frames(Peer& peer, Observation& observation, bool& heard) {
  try {
    while (const auto frame = peer.connection.next(peer.payload_bytes_max)) {
      const nlohmann::json& header = frame->header;
      heard = true;
      if (!peer.pending) throw ProtocolError("a frame after the result");
      if (header.contains("progress")) {
        take_progress(peer, header);
        continue;
      }
      if (!header.contains("result")) {
        throw ProtocolError(fmt::format(
            "got {1:.80}, expected the progress or the result of run {0}", run_, header.dump()));
      }
      if (header["result"] != run_) {
        throw ProtocolError(fmt::format(
            "result of run {:.40}: expected that of run {}", header["result"].dump(), run_));
      }
      take_result(peer, *frame);
    }
    return true;
  } catch (const std::exception& error) {
    give_up(observation, status_of_breach(options_), describe_breach(peer.ranks, error));
    return false;
  }
}

void Session::take_result(Peer& peer, const Frame& frame) {
  if (!hello_.takes_inputs) {
    read_result(frame, peer.result);
    peer.pending = false;
    return;
  }
  const SentStage sent = std::move(peer.sent.front());
  peer.sent.pop_front();
  std::vector<std::span<const std::byte>> placed;
  for (const Place& each : sent.places) {
    placed.emplace_back(each.size == 0 ? std::span<const std::byte>()
                                       : file_->bytes().subspan(each.offset, each.size));
  }
  Observation& answer = peer.answer;
  read_result(frame, answer, placed);
  peer.pending = !peer.sent.empty();
  if (answer.status != RunStatus::completed) {
    if (peer.result.status != RunStatus::completed) return;
    peer.result.status = answer.status;
    peer.result.reason = std::move(answer.reason);
    peer.result.symptom = answer.symptom;
    return;
  }
  const std::size_t i = sent.stage - part_.first;
  if (!answer.path.empty()) peer.result.path[i] = answer.path.front();
  if (!answer.stages.empty()) std::swap(peer.result.stages[i], answer.stages.front());
  peer.result.fault_fired |= answer.fault_fired;
  peer.result.fault_changed |= answer.fault_changed;
}

void Session::take_progress(const Peer& peer, const nlohmann::json& header) {
  const Progress progress = progress_from_json(header);
  if (progress.run != run_) {
    throw ProtocolError(
        fmt::format("progress of run {}: expected that of run {}", progress.run, run_));
  }
  if (std::ranges::count(peer.ranks, progress.rank) == 0) {
    throw ProtocolError(fmt::format("progress of rank {}: expected one that it hosts ({})",
                                    progress.rank,
                                    fmt::join(peer.ranks, ",")));
  }
  const std::size_t last = part_.first + part_.count - 1;
  if (progress.stage < part_.first || progress.stage > last) {
    const std::string expected = part_.count > 1 || part_.first == 0
                                     ? fmt::format("at most {}", last)
                                     : fmt::format("{}", last);
    throw ProtocolError(fmt::format("progress in stage {}: expected {}", progress.stage, expected));
  }
  entered_[progress.rank] = progress.stage;
}

void Session::merge(std::span<const Case> stages, Observation& observation) {
  const Peer* culprit = nullptr;
  for (const Peer& peer : peers_) {
    const RunStatus status = peer.result.status;
    const bool was_asked = hello_.everyone || peer.payload_bytes_max > 0;
    if (!was_asked || peer.pending || status == RunStatus::completed) continue;
    // A worker that reports that it hangs is of no more use.
    if (status == RunStatus::hung) usable_ = false;
    // A process that failed may have left messages to others, which the next run would receive.
    if (status == RunStatus::failed && peers_.size() > 1) usable_ = false;
    if (culprit == nullptr || precedence(status) > precedence(culprit->result.status)) {
      culprit = &peer;
    }
  }
  if (culprit != nullptr) {
    observation.status = culprit->result.status;
    observation.reason = fmt::format("{}: {}", title(culprit->ranks), culprit->result.reason);
    observation.symptom = culprit->result.symptom;
    if (observation.status == RunStatus::refused) judge_refusals(stages, observation);
    return;
  }
  observation.stages.resize(stages.size());
  for (std::size_t i = 0; i < part_.count; ++i) {
    const std::size_t k = part_.first + i;
    const std::vector<int> group = members(stages[k]);
    StageOutcome& stage = observation.stages[k];
    stage.images.resize(group.size());
    stage.stamps.resize(group.size());
    const spec::Contract& contract = *options_.contract_of(stages[k].operation);
    for (Peer& peer : peers_) {
      std::size_t next = 0;
      for (std::size_t g = 0; g < group.size(); ++g) {
        if (std::ranges::count(peer.ranks, group[g]) == 0) continue;
        lay_out(contract, stages[k], static_cast<int>(g), hello_.traits.result_place, layout_);
        const bool is_there =
            i < peer.result.stages.size() && next < peer.result.stages[i].images.size();
        const std::optional<std::size_t> size =
            is_there ? std::optional(peer.result.stages[i].images[next].size()) : std::nullopt;
        if (is_there) std::swap(stage.images[g], peer.result.stages[i].images[next]);
        if (size != spec::to_size(layout_.size)) {
          return give_up(observation,
                         status_of_breach(options_),
                         describe_wrong_image(peer.ranks, group[g], k, layout_, size));
        }
        stage.stamps[g] = peer.result.stages[i].stamps[next++];
        const std::string path = i < peer.result.path.size() ? peer.result.path[i] : "";
        // A rank that saw nothing contradicts nobody.
        if (observation.path[k].empty() || is_unseen(path)) observation.path[k] = path;
        if (observation.path[k] == path || is_unseen(observation.path[k])) continue;
        observation.status = RunStatus::failed;
        observation.symptom = Symptom::path;
        observation.reason = fmt::format("stage {}: rank {} took the path {}, others {}",
                                         k,
                                         group[g],
                                         path,
                                         observation.path[k]);
      }
      observation.fault_fired |= peer.result.fault_fired;
      observation.fault_changed |= peer.result.fault_changed;
    }
  }
}

void Session::judge_refusals(std::span<const Case> stages, Observation& observation) {
  const auto calls = stages.subspan(part_.first, part_.count);
  // A process that is in every call of another one is also in the call that the other one refused.
  const auto is_in_all_calls_of = [&](const Peer& other, const Peer& peer) {
    return std::ranges::all_of(calls, [&](const Case& c) {
      return !has_member(c, peer.ranks) || has_member(c, other.ranks);
    });
  };
  for (const Peer& peer : peers_) {
    const bool has_call =
        std::ranges::any_of(calls, [&](const Case& c) { return has_member(c, peer.ranks); });
    if (!has_call || peer.pending || peer.result.status != RunStatus::refused) continue;
    for (const Peer& other : peers_) {
      const bool has_completed = !other.pending && other.result.status == RunStatus::completed;
      if (!has_completed || !is_in_all_calls_of(other, peer)) continue;
      // The process that completed may have left messages to the other one.
      usable_ = false;
      observation.status = RunStatus::failed;
      observation.reason = fmt::format("{} refused the call that {} completed: {}",
                                       title(peer.ranks),
                                       title(other.ranks),
                                       peer.result.reason);
      return;
    }
  }
}

void Session::give_up(Observation& observation, RunStatus status, std::string reason) {
  usable_ = false;
  observation.status = status;
  observation.reason = std::move(reason);
  // The signal that requests the stop may have reached the workers, too.
  require_no_stop();
}

void Session::give_up_sending(Peer& peer, std::span<const Case> stages, Observation& observation) {
  if (options_.now() < send_end_)
    return give_up(observation, RunStatus::crashed, describe_death(peer, stages));
  const std::chrono::duration<double> limit = patience_;
  give_up(observation,
          RunStatus::hung,
          fmt::format("{}: reads nothing within {} s", title(peer.ranks), limit.count()));
}

std::string Session::where(int rank, std::span<const Case> stages) const {
  const auto found = entered_.find(rank);
  if (found == entered_.end()) return fmt::format("rank {} entered no stage", rank);
  const std::size_t k = found->second;
  const std::string operation = k < stages.size() ? stages[k].operation : "?";
  return fmt::format(
      "rank {} entered stage {} ({}{})", rank, k, operation, describe_emptiness(stages, k));
}

std::vector<const Session::Peer*> Session::others_that_ended(const Peer& found) const {
  std::vector<const Peer*> ended;
  for (const Peer& peer : peers_) {
    pollfd entry{.fd = peer.connection.descriptor(), .events = 0, .revents = 0};
    if (&peer != &found && ::poll(&entry, 1, 0) > 0) ended.push_back(&peer);
  }
  return ended;
}

void Session::read_last_progress(Peer& peer) {
  while (peer.connection.fill()) {
  }
  try {
    while (const auto frame = peer.connection.next(peer.payload_bytes_max)) {
      if (frame->header.contains("progress")) take_progress(peer, frame->header);
    }
  } catch (const std::exception&) {
    // That the process died says more.
    return;
  }
}

std::string Session::describe_death(Peer& found, std::span<const Case> stages) {
  const std::vector<const Peer*> others = others_that_ended(found);
  static_cast<void>(wait_for_end(end_patience));
  // A launcher ends the others soon after the first process has ended. If we see several ends at
  // once, only the launcher knows which one was the first.
  const std::optional<std::size_t> first = others.empty() ? std::nullopt : process_->first_to_end();
  const bool is_other =
      first && *first < peers_.size() && std::ranges::count(others, &peers_[*first]) > 0;
  Peer& peer = is_other ? peers_[*first] : found;
  if (is_other) read_last_progress(peer);
  std::string text = title(peer.ranks) + " died";
  if (peer.ranks.size() == 1 && entered_.contains(peer.ranks[0])) {
    text += "; " + where(peer.ranks[0], stages);
  } else if (!stages.empty()) {
    // The process did not say where it was, or hosts several ranks.
    std::size_t last = part_.first;
    for (const auto& [rank, stage] : entered_) last = std::max(last, stage);
    const std::string emptiness = describe_emptiness(stages, last);
    if (!emptiness.empty()) {
      text += fmt::format(" in stage {} ({}{})", last, stages[last].operation, emptiness);
    }
  }
  return with_last_words(text + "; the worker " + process_->fate(), *process_);
}

std::string Session::describe_hang(std::span<const Case> stages,
                                   std::chrono::duration<double> limit) const {
  std::vector<std::string> places;
  for (const Peer& peer : peers_) {
    if (!peer.pending) continue;
    for (const int rank : peer.ranks) {
      const bool takes_part =
          std::ranges::any_of(stages, [&](const Case& c) { return place_in_group(c, rank) >= 0; });
      if (takes_part) places.push_back(where(rank, stages));
    }
  }
  return fmt::format("no {} within {} s: {}",
                     limit > patience_ ? "result" : "answer",
                     limit.count(),
                     fmt::join(places, ", "));
}

}  // namespace rankcheck::harness::worker
