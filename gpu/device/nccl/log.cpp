#include "gpu/device/nccl/log.hpp"

#include <iterator>

#include "gpu/device/wrong_path.hpp"

namespace rankcheck::gpu::nccl {

namespace {

/// The word that begins at `begin`.
std::string word_at(std::string_view line, std::size_t begin) {
  const std::size_t end = line.find_first_of(" \r", begin);
  return std::string(line.substr(begin, end == std::string_view::npos ? end : end - begin));
}

}  // namespace

std::vector<Launch> launches_in(std::string_view log) {
  constexpr std::string_view bytes = " Bytes -> Algo ";
  constexpr std::string_view proto = " proto ";
  std::vector<Launch> all;
  while (!log.empty()) {
    const std::size_t end = log.find('\n');
    const std::string_view line = log.substr(0, end);
    log.remove_prefix(end == std::string_view::npos ? log.size() : end + 1);
    // A line looks like "… NCCL INFO AllReduce: 4194304 Bytes -> Algo TREE proto SIMPLE
    // channel{Lo..Hi}={0..7}".
    const std::size_t algorithm = line.find(bytes);
    const std::size_t protocol = line.find(proto);
    const std::size_t colon = line.rfind(':', algorithm);
    if (algorithm == std::string_view::npos || protocol == std::string_view::npos ||
        colon == std::string_view::npos) {
      continue;
    }
    const std::size_t space = line.rfind(' ', colon);
    const std::size_t begin = space == std::string_view::npos ? 0 : space + 1;
    all.push_back({std::string(line.substr(begin, colon - begin)),
                   word_at(line, algorithm + bytes.size()),
                   word_at(line, protocol + proto.size())});
  }
  return all;
}

void require_forced(const Forcing& forcing, const std::vector<Launch>& launches, bool moves_data) {
  const std::string expected = forcing.algorithm + "/" + forcing.protocol;
  bool seen = false;
  for (const Launch& each : launches) {
    if (each.function != forcing.function) continue;
    const std::string got = each.algorithm + "/" + each.protocol;
    if (got != expected) {
      throw WrongPath("forced to " + expected + ", but according to its log NCCL's " +
                      forcing.function + " took " + got);
    }
    seen = true;
  }
  if (!seen && moves_data) {
    throw WrongPath("forced to " + expected + ", but NCCL's log shows no " + forcing.function);
  }
}

std::vector<Launch> Log::news() {
  std::ifstream file(path_);
  file.seekg(read_);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  // A line that is still being written is left for the next call.
  const std::size_t end = text.rfind('\n');
  if (end == std::string::npos) return {};
  read_ += static_cast<std::streamoff>(end) + 1;
  return launches_in(std::string_view(text).substr(0, end + 1));
}

}  // namespace rankcheck::gpu::nccl
