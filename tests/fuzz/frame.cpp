#include <cstdint>
#include <string>

#include <unistd.h>

#include "tests/fuzz/targets.hpp"

namespace rankcheck::fuzz {

namespace {

namespace worker = harness::worker;

constexpr std::uint64_t payload_bytes_max = 1 << 16;

/// Reads the input as the harness reads a worker's messages.
std::string fault_of_frames(std::string_view input) {
  return fault_of_reading([&]() -> std::string {
    const MemoryFile file(input);
    worker::Connection connection(::dup(file.descriptor()), -1);
    harness::Observation observation;
    while (connection.fill()) {
      while (const std::optional<worker::Frame> frame = connection.next(payload_bytes_max)) {
        if (frame->header.contains("hello")) {
          const worker::Hello hello = worker::hello_from_json(frame->header);
          if (hello.world < 1 || hello.traits.ranks_max > hello.world) return "too many ranks";
        } else if (frame->header.contains("progress")) {
          static_cast<void>(worker::progress_from_json(frame->header));
        } else {
          worker::read_result(*frame, observation);
        }
      }
    }
    return {};
  });
}

std::string sent(nlohmann::ordered_json header, const std::string& payload = "") {
  if (!payload.empty()) header["payload"] = payload.size();
  const std::string text = header.dump();
  std::string frame;
  for (int i = 0; i < 4; ++i) frame += static_cast<char>(text.size() >> (8 * i));
  return frame + text + payload;
}

std::vector<std::string> seeds_of_frames() {
  worker::Hello hello;
  hello.world = 2;
  hello.ranks = {0, 1};
  hello.traits.name = "mine";
  hello.traits.ranks_max = 2;
  hello.algorithms = {{{"all_reduce", "ring", "words"}, {{"KEY", "value"}}}};
  hello.versions = {{"library", "1.0"}};
  nlohmann::ordered_json limited = to_json(hello);
  limited["hello"]["protocol"] = 2;
  limited["hello"]["inputs"] = "sent";
  limited["hello"]["algorithms"][0]["takes"] = {{"type", {"f32", "int8"}},
                                                {"op", "any"},
                                                {"root", {0, 1}},
                                                {"group", "sorted"},
                                                {"empty", false},
                                                {"ranks", {{"min", 1}, {"max", 4}}}};
  const std::string result = sent({{"result", 1},
                                   {"status", "completed"},
                                   {"path", {"ring"}},
                                   {"stamps", {{{1, 2}, {1, 3}}}},
                                   {"sizes", {{4, 4}}}},
                                  "12345678");
  const std::string failed = sent({{"result", 2},
                                   {"status", "failed"},
                                   {"reason", "it did not work"},
                                   {"path", nlohmann::json::array()},
                                   {"stamps", nlohmann::json::array()},
                                   {"sizes", nlohmann::json::array()},
                                   {"fault_fired", true}});
  const std::string progress = sent({{"progress", 1}, {"rank", 0}, {"stage", 0}});
  return {sent(to_json(hello)), sent(limited), progress + result, failed};
}

}  // namespace

Target frame_target() {
  return {"frame", fault_of_frames, seeds_of_frames};
}

}  // namespace rankcheck::fuzz
