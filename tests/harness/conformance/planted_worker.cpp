#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reference/registry.hpp"
#include "reference/spec/to_size.hpp"

#include "harness/base/descriptor.hpp"
#include "harness/case/family.hpp"
#include "harness/case/image.hpp"
#include "harness/case/input.hpp"
#include "harness/worker/protocol.hpp"
#include "harness/worker/serve.hpp"

/// A worker that keeps to the protocol, but for one fault: its only argument, or none. Its results
/// are always wrong, because its calls do nothing.
namespace rankcheck::harness {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int world = 3;

class PlantedWorker {
 public:
  PlantedWorker(std::string fault, std::vector<int> ranks)
      : fault_(std::move(fault)),
        ranks_(std::move(ranks)),
        connection_(worker::connect_to_harness()) {}

  int serve() {
    greet();
    std::optional<worker::Frame> frame;
    while ((frame = connection_.next(std::uint64_t{1} << 24)) || connection_.fill()) {
      if (!frame) continue;
      const json header = frame->header;
      if (header.contains("refuses")) {
        answer(header);
      } else {
        run(header, *frame);
      }
    }
    if (has("no_shutdown")) ::pause();
    return has("exit_status") ? 3 : 0;
  }

 private:
  [[nodiscard]] bool has(const char* fault) const { return fault_ == fault; }

  void greet() {
    const std::vector<const char*> operations = {"all_gather", "broadcast", "crop", "epie_step"};
    const bool shares = fault_.starts_with("shared");
    ordered_json hello{{"protocol", has("sent") || has("changes_sent") || shares ? 2 : 1},
                       {"world", has("wrong_world") ? 5 : world},
                       {"ranks", ranks_},
                       {"traits",
                        {{"name", "planted"},
                         {"nan_rule", "propagates"},
                         {"result_place", "own_block"},
                         {"ranks_max", world},
                         {"deterministic", true}}},
                       {"algorithms", ordered_json::array()}};
    for (const char* each : operations) {
      const bool is_alone = has("family_poison");
      if (is_alone && std::string(each) != "crop") continue;
      ordered_json algorithm{{"operation", each}, {"name", "plain"}, {"summary", ""}};
      if (has("takes")) algorithm["takes"] = {{"type", {"int32", "f32"}}, {"gap", "any"}};
      hello["algorithms"].push_back(algorithm);
    }
    if (hello["protocol"] == 2 && !has("shared_and_derived")) hello["inputs"] = "sent";
    if (shares) hello["shared_file"] = true;
    if (has("duplicate_rank")) hello["ranks"].push_back(ranks_.front());
    if (has("missing_trait")) hello["traits"].erase("nan_rule");
    if (has("unknown_field")) hello["traits"]["determinstic"] = true;
    if (has("unknown_operation")) hello["algorithms"][0]["operation"] = "all_gathr";
    if (has("everyone")) hello["everyone"] = true;
    send({{"hello", hello}});
  }

  void answer(const json& header) {
    json id = header["refuses"];
    if (has("refusal_id")) id = 99;
    std::string reason;
    try {
      const Case c = case_from_json(header["case"]);
      if (c.offset > 0) reason = "offset: expected 0";
      if (has("refuses_all")) reason = "not today";
    } catch (const BadInput& bad) {
      if (!has("takes_unknown")) reason = bad.what();
    }
    send({{"refusal", id}, {"reason", reason}});
  }

  void run(const json& header, const worker::Frame& frame) {
    sent_.assign(frame.payload.begin(), frame.payload.end());
    std::vector<Case> stages;
    if (header.contains("stages") && header["stages"].is_array()) {
      for (const json& each : header["stages"]) stages.push_back(case_from_json(each));
    } else {
      stages.push_back(case_from_json(header["case"]));
    }
    const bool is_refused =
        has("refuses_all") ||
        std::any_of(stages.begin(), stages.end(), [](const Case& c) { return c.offset > 0; });
    if (is_refused && !has("runs_refused")) return refuse(header);
    Observation seen;
    images_.assign(stages.size(), std::vector<Image>(world));
    for (std::size_t k = 0; k < stages.size(); ++k) call(header, stages, k, seen);
    if (has("crash")) std::abort();
    const auto id = header["run"].get<std::uint64_t>();
    if (header.contains("file") && !has("shared_and_payload")) return give_shared(header, seen);
    static_cast<void>(send_result(connection_, has("result_of_another_run") ? id + 7 : id, seen));
  }

  void refuse(const json& header) {
    send({{"result", header["run"]},
          {"status", "refused"},
          {"reason", "offset: expected 0"},
          {"path", json::array()},
          {"stamps", json::array()},
          {"sizes", json::array()}});
  }

  /// Enters a stage with all ranks that are members, fills their images and leaves it.
  void call(const json& header, std::span<const Case> stages, std::size_t k, Observation& seen) {
    const Case& c = stages[k];
    StageOutcome& stage = seen.stages.emplace_back();
    seen.path.emplace_back(has("wrong_path") ? "ring" : "plain");
    const std::vector<int> group = members(c);
    for (std::size_t g = 0; g < group.size(); ++g) {
      if (std::count(ranks_.begin(), ranks_.end(), group[g]) == 0) continue;
      const bool is_sent = header.contains("stage");
      const json index = is_sent ? header["stage"] : json(k);
      const int named = has("progress_of_another_rank") ? world : group[g];
      if (!has("no_progress")) {
        send({{"progress", header["run"]}, {"rank", named}, {"stage", index}});
      }
      Image image =
          is_sent ? take_sent(header, stage.images.size()) : fill(stages, k, static_cast<int>(g));
      images_[k][spec::to_size(group[g])] = image;
      damage(c, group[g], image);
      stage.images.push_back(image);
      clock_ += 10;
      const std::int64_t entered = has("stamps_backwards") ? clock_ + 20 : clock_;
      stage.stamps.push_back(
          {entered, has("stages_backwards") ? 1'000'000'000 - clock_ : clock_ + 5});
      if (has("stages_backwards")) stage.stamps.back().entered = stage.stamps.back().left;
    }
  }

  Image fill(std::span<const Case> stages, std::size_t k, int place) {
    const auto contract_of = [](std::string_view name) -> const spec::Contract& {
      return *reference::find_contract(name);
    };
    const int rank = members(stages[k])[spec::to_size(place)];
    std::vector<const std::byte*> left(k);
    for (std::size_t s = 0; s < k; ++s) {
      const Image& image = images_[s][spec::to_size(rank)];
      left[s] = image.empty() ? nullptr : image.data();
    }
    Image image;
    prepare_stage(contract_of, stages, k, place, ResultPlace::own_block, left, layout_, image);
    return image;
  }

  /// Writes the images that came in the file back there, and sends the others.
  void give_shared(const json& header, const Observation& seen) {
    ordered_json sizes = ordered_json::array();
    ordered_json stamps = ordered_json::array();
    std::vector<std::span<const std::byte>> parts;
    const Descriptor file = open_shared(header);
    const std::vector<Image>& images = seen.stages[0].images;
    for (std::size_t i = 0; i < images.size(); ++i) {
      const json& member = header["members"][i];
      sizes.push_back(images[i].size() + (has("shared_size") && member.contains("offset") ? 1 : 0));
      stamps.push_back({seen.stages[0].stamps[i].entered, seen.stages[0].stamps[i].left});
      if (!member.contains("offset")) {
        parts.emplace_back(images[i]);
        continue;
      }
      auto offset = member["offset"].get<off_t>();
      // Another image gets the first guard of this one.
      if (has("shared_offset")) offset = 0;
      const std::size_t bytes = has("shared_offset") ? 64 : images[i].size();
      require(::pwrite(file.get(), images[i].data(), bytes, offset));
    }
    static_cast<void>(connection_.send({{"result", header["run"]},
                                        {"status", "completed"},
                                        {"path", seen.path},
                                        {"stamps", ordered_json::array({stamps})},
                                        {"sizes", ordered_json::array({sizes})}},
                                       parts));
  }

  static Descriptor open_shared(const json& header) {
    return Descriptor(::open(header["file"].get<std::string>().c_str(), O_RDWR | O_CLOEXEC));
  }

  /// Ends the worker if a call of the system failed.
  static void require(ssize_t result) {
    if (result < 0) std::abort();
  }

  Image take_sent(const json& header, std::size_t member) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < member; ++i) {
      const json& other = header["members"][i];
      if (!other.contains("offset")) at += other["image"].get<std::size_t>();
    }
    const json& own = header["members"][member];
    layout_.send = own.contains("send") ? 64 : -1;
    Image image(own["image"].get<std::size_t>());
    if (own.contains("offset")) {
      require(::pread(
          open_shared(header).get(), image.data(), image.size(), own["offset"].get<off_t>()));
    } else {
      std::copy_n(sent_.begin() + static_cast<std::ptrdiff_t>(at), image.size(), image.begin());
    }
    return image;
  }

  void damage(const Case& c, int rank, Image& image) {
    const bool has_inputs = layout_.send >= 0 && layout_.send_size > 0 && !c.in_place;
    const std::int64_t begin = layout_.send;
    if (has("image_too_short")) image.resize(spec::to_size(std::max(layout_.recv, guard_bytes)));
    if (has("guard_too_long")) image.insert(image.begin() + 64, 64, std::byte{1});
    if (has("changes_sent")) image[3] ^= std::byte{1};
    if (has("zero_poison")) std::fill_n(image.begin(), 64, std::byte{0});
    if (has("one_byte_behind")) image.back() ^= std::byte{1};
    if (has("poison_of_another_rank")) {
      fill_poison(
          c, (rank + 1) % c.ranks, find_family(c.operation)->poison_bits(c), image.data(), 64);
    }
    if (has("family_poison")) fill_poison(c, rank, 0, image.data(), 64);
    if (has("wrong_input") && has_inputs && !layout_.extents.send.empty() &&
        layout_.extents.send[0].count > 0) {
      image[spec::to_size(begin + layout_.extents.send[0].offset * spec::info(c.type).bytes)] ^=
          std::byte{1};
    }
  }

  void send(const ordered_json& header) { static_cast<void>(connection_.send(header)); }

  std::string fault_;
  std::vector<int> ranks_;
  worker::Connection connection_;
  std::vector<std::byte> sent_;
  std::vector<std::vector<Image>> images_;
  ImageLayout layout_;
  std::int64_t clock_ = 0;
};

int serve(const std::string& fault) {
  const bool is_split = fault == "two_processes" || fault == "rank_in_two_processes";
  if (!is_split) return PlantedWorker(fault, {0, 1, 2}).serve();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_wrong = fault == "rank_in_two_processes";
    return PlantedWorker(fault, is_wrong ? std::vector{0} : std::vector{1, 2}).serve();
  }
  const int status = PlantedWorker(fault, {0}).serve();
  ::waitpid(child, nullptr, 0);
  return status;
}

}  // namespace
}  // namespace rankcheck::harness

// An exception ends this program, and the test sees it.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  return rankcheck::harness::serve(argc > 1 ? argv[1] : "");
}
