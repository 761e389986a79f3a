#include "cases/workers/nccl_subject.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/cluster.hpp"
#include "gpu/device/driver_release.hpp"
#include "gpu/device/nccl/devices.hpp"
#include "gpu/device/nccl/placement.hpp"
#include "gpu/device/wrong_path.hpp"

#include "harness/backend/stage_images.hpp"
#include "harness/backend/stages.hpp"
#include "harness/case/input.hpp"

#include "cases/families/collectives/case.hpp"
#include "cases/families/collectives/inputs.hpp"
#include "cases/workers/arrival.hpp"
#include "cases/workers/placed_image.hpp"

namespace rankcheck::cases {

namespace {

using harness::Case;
using harness::Observation;
namespace nccl = gpu::nccl;
namespace worker = harness::worker;

/// The places of the members' images in windows. The buffers must have the same offset on every
/// rank, and images differ if only the root has two buffers.
class WindowPlan {
 public:
  WindowPlan(const spec::Contract& contract, const Case& c) {
    std::vector<harness::ImageLayout> layouts(spec::to_size(harness::group_size(c)));
    for (std::size_t g = 0; g < layouts.size(); ++g) {
      lay_out(contract, c, static_cast<int>(g), harness::ResultPlace::own_block, layouts[g]);
    }
    // The buffer that every rank has. In place, one buffer contains the other one, and all images
    // are the same.
    const bool all_receive = std::all_of(
        layouts.begin(), layouts.end(), [](const auto& each) { return each.recv >= 0; });
    for (const harness::ImageLayout& each : layouts) {
      starts_.push_back(c.in_place ? 0 : all_receive ? each.recv : each.send);
    }
    const std::int64_t last = *std::max_element(starts_.begin(), starts_.end());
    std::int64_t end = 0;
    for (std::size_t g = 0; g < layouts.size(); ++g) {
      starts_[g] = last - starts_[g];
      end = std::max(end, starts_[g] + layouts[g].size);
    }
    constexpr std::int64_t unit = NCCL_WIN_REQUIRED_ALIGNMENT;
    bytes_ = (end + unit - 1) / unit * unit;
  }

  [[nodiscard]] nccl::WindowPlace place(int group_rank,
                                        std::byte* memory,
                                        std::int64_t bytes) const {
    return {.memory = memory,
            .bytes = bytes,
            .offset = starts_[spec::to_size(group_rank)],
            .window_bytes = bytes_};
  }

 private:
  /// The start of each image in the window.
  std::vector<std::int64_t> starts_;
  std::int64_t bytes_ = 0;
};

class NcclSubject final : public worker::Subject {
 public:
  /// Joins the world. `library` must outlive the subject.
  NcclSubject(const nccl::Library& library, nccl::World world)
      : library_(library), world_(std::move(world)), devices_(make_devices()) {
    runtime_.emplace(library_, *devices_, world_);
  }

  [[nodiscard]] worker::Hello hello() const override {
    worker::Hello hello;
    hello.world = world_.ranks;
    hello.ranks = world_.local;
    hello.traits = {.name = "nccl",
                    .ranks_max = world_.ranks,
                    .has_streams = true,
                    .has_delays = true,
                    .has_overlaps = true,
                    .frees_groups = true};
    for (const nccl::Algorithm& each : nccl::algorithms()) {
      hello.algorithms.push_back(
          {.info = {each.operation, each.name, each.summary}, .environment = each.environment()});
    }
    hello.everyone = true;
    hello.versions = versions();
    return hello;
  }

  [[nodiscard]] std::string why_refused(const Case& c) const override {
    const spec::Contract* contract = reference::find_contract(c.operation);
    const nccl::Algorithm* algorithm = nccl::find_algorithm(c.operation, c.algorithm);
    if (contract == nullptr || algorithm == nullptr) {
      return fmt::format("algorithm: nccl has no {} of {}", c.algorithm, c.operation);
    }
    if (!c.fault.empty()) return "fault: only the simulator plants faults";
    if (c.schedule != Case().schedule) return "schedule: only the simulator supports schedules";
    if (c.chunk > 0 && !algorithm->packs) return "chunk: NCCL chooses its own";
    if (c.in_place && contract->in_place == spec::InPlace::none) {
      return "in_place: the operation has no such call";
    }
    // What a forced algorithm writes to the log is read when the call is done.
    if (c.overlaps && (algorithm->runs_alone() || algorithm->forcing)) {
      return "overlaps: the algorithm waits until the call is done";
    }
    const spec::Call call = collective_call(c);
    if (const auto reason = spec::why_invalid(*contract, call)) return *reason;
    const std::vector<int> group = harness::members(c);
    if (c.frees && std::ssize(group) == world_.ranks && std::ranges::is_sorted(group)) {
      return "frees: other communicators are split from that of the world";
    }
    return nccl::Runtime::why_refused(
        library_, world_, {*algorithm, *contract, call, group, c.in_place, 0, c.hosts});
  }

  void run(std::span<const Case> stages,
           const worker::Entered& entered,
           Observation& result) override {
    result.stages.resize(stages.size());
    result.path.assign(stages.size(), {});
    runtime_->forget_groups();
    if (harness::has_stages_at_once(stages)) {
      const auto make_communicators = [&] {
        for (const Case& c : stages) runtime_->prepare(request_of(Stage(c)));
      };
      if (!succeeds(stages, 0, result, make_communicators)) return;
    }
    run_.clear();
    devices_->begin();
    for (std::size_t first = 0; first < stages.size();) {
      const std::size_t last = end_of_batch(stages, first);
      const bool goes_on =
          succeeds(stages, first, result, [&] { run_batch(stages, first, last, entered, result); });
      if (result.status == harness::RunStatus::hung) return;
      // All processes forget the group, also if the call failed in one of them only.
      for (const Case& each : stages.subspan(first, last - first)) {
        if (each.frees) runtime_->forget(harness::members(each));
      }
      if (!goes_on) return;
      first = last;
    }
    const bool completed = result.status == harness::RunStatus::completed;
    if (completed && harness::is_history(stages)) require_memory_left_alone(result);
  }

 private:
  [[noreturn]] static void end(const char* what) {
    fmt::print(stderr, "{}\n", what);
    std::fflush(stderr);
    std::_Exit(1);
  }

  [[nodiscard]] std::unique_ptr<nccl::Devices> make_devices() const {
    if (library_.on_host()) return nccl::make_host_devices(static_cast<int>(world_.local.size()));
    std::vector<int> physical;
    for (const int rank : world_.local) {
      physical.push_back(nccl::device_of(rank, world_.devices));
    }
    return nccl::make_cuda_devices(physical);
  }

  [[nodiscard]] nlohmann::json versions() const {
    nlohmann::json all{{"nccl", library_.version_text()},
                       {"nccl_library", library_.loaded().text()}};
    if (!library_.missing().empty()) all["nccl_lacks"] = library_.missing();
    if (library_.on_host()) {
      all["memory"] = "host: a stand-in, not NCCL";
      return all;
    }
    const nccl::CudaVersions cuda = nccl::cuda_versions();
    all["cuda_driver"] = cuda.driver;
    all["cuda_runtime"] = cuda.runtime;
    if (const auto release = gpu::driver_release(); !release.empty())
      all["nvidia_driver"] = release;
    all["devices"] = cuda.devices;
    if (world_.shares_devices)
      all["ranks"] = "share devices; NCCL treats each rank as a host of its own";
    return all;
  }

  /// One stage: its call, its hosted members in group order, and the places of their images.
  struct Stage {
    explicit Stage(const Case& stage)
        : c(stage),
          group(harness::members(stage)),
          contract(reference::contract_named(stage.operation)),
          call(collective_call(stage)) {}

    const Case& c;
    std::vector<int> group;
    const spec::Contract& contract;
    spec::Call call;
    std::vector<nccl::Member> members;
    std::vector<int> slots;
    std::vector<PlacedImage> images;
    std::vector<std::array<std::byte, 16>> scalars;
    std::int64_t entered_ns = 0;
  };

  [[nodiscard]] static nccl::Request request_of(const Stage& stage) {
    return {*nccl::find_algorithm(stage.c.operation, stage.c.algorithm),
            stage.contract,
            stage.call,
            stage.group,
            stage.c.in_place,
            stage.c.chunk,
            {},
            captured_calls(stage.contract, stage.c),
            stage.c.data_seed % 2 == 1};
  }

  /// How often a graph contains the call. A published defect shows only from 50 calls on. The seed
  /// decides, so that a failure of a single captured call shrinks to one call.
  [[nodiscard]] static int captured_calls(const spec::Contract& contract, const Case& c) {
    constexpr std::int64_t bytes_max = 1 << 16;
    constexpr std::uint64_t one_of = 8;
    const bool is_small = harness::bytes_of_images(contract, c) <= bytes_max;
    return is_small && c.data_seed % one_of == 0 ? 50 : 1;
  }

  /// Does `work`. Returns false if it fails, which becomes the result of stage `k`.
  template <class Work>
  static bool succeeds(std::span<const Case> stages,
                       std::size_t k,
                       Observation& result,
                       Work work) {
    const auto fail = [&](harness::RunStatus status, const char* what) {
      result.status = status;
      result.reason = fmt::format("stage {} ({}): {}", k, stages[k].operation, what);
      return false;
    };
    try {
      work();
      return true;
    } catch (const nccl::Hang& hang) {
      return fail(harness::RunStatus::hung, hang.what());
    } catch (const nccl::NoWindow& refusal) {
      // Members of other groups may wait for this rank in a later stage.
      result.status = harness::RunStatus::refused;
      result.reason = refusal.what();
      return true;
    } catch (const nccl::Error& error) {
      // After such an error the communicator is unusable, so a fresh process must take over.
      if (!error.is_refusal()) end(error.what());
      return fail(harness::RunStatus::failed, error.what());
    } catch (const gpu::DeviceError& error) {
      end(error.what());
    } catch (const gpu::WrongPath& error) {
      result.symptom = harness::Symptom::path;
      return fail(harness::RunStatus::failed, error.what());
    } catch (const std::exception& error) {
      return fail(harness::RunStatus::failed, error.what());
    }
  }

  /// The end of the calls of groups that are made at the same time, or of the calls that overlap.
  static std::size_t end_of_batch(std::span<const Case> stages, std::size_t first) {
    if (!stages[first].overlaps) return harness::end_of_stages_at_once(stages, first);
    const auto rest = stages.subspan(first, harness::end_of_overlap(stages, first) - first);
    const auto end = std::find_if(rest.begin() + 1, rest.end(), [](const Case& c) {
      return nccl::find_algorithm(c.operation, c.algorithm)->runs_alone();
    });
    return first + spec::to_size(end - rest.begin());
  }

  /// Requires that the memory of each call of a history still has what the call left.
  void require_memory_left_alone(Observation& result) {
    for (std::size_t k = 0; k < run_.size(); ++k) {
      for (std::size_t i = 0; i < run_[k].members.size(); ++i) {
        const harness::Image& left = result.stages[k].images[i];
        harness::Image now(left.size());
        run_[k].images[i].read(*devices_, run_[k].slots[i], now);
        const auto at = std::ranges::mismatch(now, left).in1;
        if (at == now.end()) continue;
        result.status = harness::RunStatus::failed;
        result.symptom = harness::Symptom::outside;
        result.reason = fmt::format(
            "stage {}: rank {}: the memory of the call was written at byte {} after its end",
            k,
            run_[k].group[spec::to_size(run_[k].members[i].group_rank)],
            at - now.begin());
        return;
      }
    }
  }

  /// Runs the stages [first, last), and waits for all of them.
  void run_batch(std::span<const Case> stages,
                 std::size_t first,
                 std::size_t last,
                 const worker::Entered& entered,
                 Observation& result) {
    // Other programs need the memory of their calls only until the next call.
    if (!harness::is_history(stages)) {
      run_.clear();
      devices_->begin();
    }
    const std::size_t before = run_.size();
    // While calls are under way, nothing can be written to the devices, and no communicator may be
    // split from that of the world.
    for (std::size_t k = first; k < last; ++k) {
      prepare_images(stages, k, run_.emplace_back(stages[k]), result);
      runtime_->prepare(request_of(run_.back()));
    }
    const std::size_t at_once = stages[first].overlaps ? 1 : last - first;
    for (std::size_t k = before; k < run_.size(); k += at_once) {
      try {
        start_calls(k, k + at_once, [&](const Stage& stage, const nccl::Member& member) {
          entered(stage.group[spec::to_size(member.group_rank)],
                  spec::to_size(&stage.c - stages.data()));
        });
      } catch (...) {
        // The calls that are under way use the memory of this batch.
        if (k > before) runtime_->finish();
        throw;
      }
    }
    runtime_->finish();
    const std::int64_t left_ns = now_ns();
    for (std::size_t k = first; k < last; ++k) {
      const Stage& stage = run_[before + k - first];
      harness::StageOutcome& outcome = result.stages[k];
      outcome.stamps.assign(stage.members.size(), {.entered = stage.entered_ns, .left = left_ns});
      result.path[k] = runtime_->conclude(request_of(stage), stage.members);
      for (std::size_t i = 0; i < stage.members.size(); ++i) {
        stage.images[i].read(*devices_, stage.slots[i], outcome.images[i]);
      }
    }
  }

  /// Makes the calls of the stages [first, last) of run_ at the same time. Does not wait for them.
  void start_calls(std::size_t first,
                   std::size_t last,
                   const std::function<void(const Stage&, const nccl::Member&)>& entered) {
    std::vector<nccl::GroupCall> calls;
    const auto for_each_member = [&](const auto& use) {
      for (std::size_t k = first; k < last; ++k) {
        for (std::size_t i = 0; i < run_[k].members.size(); ++i) use(run_[k], i);
      }
    };
    for (std::size_t k = first; k < last; ++k) {
      const Stage& stage = run_[k];
      for (const nccl::Member& each : stage.members) entered(stage, each);
      // What the log says from here on is about this call.
      runtime_->prepare(request_of(stage));
      if (stage.contract.synchronises && stage.members.size() == 1) {
        arrive_late(stage.c, stage.group, stage.members.front().group_rank);
      }
      calls.push_back({request_of(stage), stage.members});
    }
    runtime_->make_ready(calls);
    // The late member of each stage, and the images of pending cases, are late on their streams.
    for_each_member([&](const Stage& stage, std::size_t i) {
      if (stage.members[i].group_rank == stage.c.late) devices_->pause(stage.slots[i]);
    });
    for_each_member([&](const Stage& stage, std::size_t i) {
      if (!stage.images[i].is_pending()) return;
      devices_->pause(stage.slots[i]);
      stage.images[i].arrive(*devices_, stage.slots[i]);
    });
    for (std::size_t k = first; k < last; ++k) run_[k].entered_ns = now_ns();
    runtime_->start(calls, [&] {
      for_each_member([&](const Stage& stage, std::size_t i) {
        stage.images[i].keep_result(*devices_, stage.slots[i]);
      });
    });
  }

  /// Writes the image with other data to memory of the member's slot. Each bit that the mask has is
  /// wrong.
  [[nodiscard]] std::byte* place_other(int slot, const harness::Image& image, std::byte mask) {
    harness::Image other = image;
    for (std::byte& each : other) each ^= mask;
    return copy_to_device(*devices_, slot, other);
  }

  /// Gives the member the memory that its algorithm needs besides the image.
  void place_more(const nccl::Algorithm& algorithm,
                  const WindowPlan* windows,
                  const harness::Image& image,
                  int slot,
                  std::byte* there,
                  nccl::Member& member) {
    const auto bytes = static_cast<std::int64_t>(image.size());
    member.place = windows != nullptr ? windows->place(member.group_rank, there, bytes)
                                      : nccl::WindowPlace{.memory = there, .bytes = bytes};
    if (algorithm.graph || algorithm.aggregated) {
      member.others[0] = place_other(slot, image, std::byte{0xff});
    }
    if (algorithm.graph) member.others[1] = place_other(slot, image, std::byte{0x55});
  }

  /// Makes the image of every hosted member and copies it to the member's device.
  void prepare_images(std::span<const Case> stages,
                      std::size_t k,
                      Stage& stage,
                      Observation& result) {
    const Case& c = stages[k];
    const nccl::Algorithm& algorithm = request_of(stage).algorithm;
    std::optional<WindowPlan> windows;
    if (algorithm.windows || algorithm.registered) windows.emplace(stage.contract, c);
    stage.scalars.resize(stage.group.size());
    const auto add = [&](const harness::HostedMember& hosted) {
      const int slot = runtime_->slot_of(hosted.world_rank);
      stage.slots.push_back(slot);
      stage.images.push_back(place_image(*devices_, slot, c.pending, hosted.image));
      std::byte* const there = stage.images.back().image;
      nccl::Member& member = stage.members.emplace_back(
          nccl::Member{.group_rank = hosted.group_rank, .extents = layout_.extents});
      member.send = hosted.send_in(there);
      member.recv = hosted.recv_in(there);
      place_more(algorithm, windows ? &*windows : nullptr, hosted.image, slot, there, member);
      if (!has_scalar(c)) return;
      auto& scalar = stage.scalars[hosted.place];
      fill_scalar(c, hosted.world_rank, scalar.data());
      member.scalar = scalar.data();
    };
    prepare_members({.contract_of = reference::contract_named,
                     .hosts = [&](int rank) { return runtime_->slot_of(rank) >= 0; }},
                    stages,
                    k,
                    layout_,
                    result,
                    add);
  }

  const nccl::Library& library_;
  nccl::World world_;
  std::unique_ptr<nccl::Devices> devices_;
  std::optional<nccl::Runtime> runtime_;
  harness::ImageLayout layout_;
  /// The stages of the run whose memory is on the devices. The addresses of elements must stay.
  std::deque<Stage> run_;
};

}  // namespace

std::unique_ptr<worker::Subject> join_nccl(const nccl::Library& library, nccl::World world) {
  return std::make_unique<NcclSubject>(library, std::move(world));
}

}  // namespace rankcheck::cases
