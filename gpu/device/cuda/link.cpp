#include "gpu/device/cuda/link.hpp"

namespace rankcheck::gpu::cuda {

LinkResult probe_link(LinkEnds& ends, const LinkProbe& probe) {
  LinkResult result{.way = ends.way()};
  result.bytes_of_copy = ends.words() * static_cast<std::int64_t>(sizeof(std::uint64_t));
  for (std::int64_t p = probe.first; p < probe.first + probe.patterns; ++p) {
    const Pattern pattern{.seed = probe.seed, .number = p};
    Pattern inverse = pattern;
    inverse.inverted = true;
    ends.fill(End::source, pattern);
    for (std::int64_t repeat = 0; repeat < probe.repeats; ++repeat) {
      // Without this, the data of the copy before would hide a copy that never arrives.
      ends.fill(End::destination, inverse);
      const EventSeconds seconds = ends.move(probe.method);
      const std::string why = seconds.why_impossible();
      if (why.empty()) result.seconds.push_back(seconds.device);
      if (result.impossible_time.empty()) result.impossible_time = why;
      ++result.copies;
      const Difference difference = ends.compare(End::destination, pattern);
      if (difference.wrong_bytes == 0) continue;
      if (!result.first_wrong) {
        result.first_wrong = difference.first;
        result.first_wrong_pattern = p;
      }
      ++result.wrong_copies;
      result.wrong_bytes += difference.wrong_bytes;
      if (ends.compare(End::source, pattern).wrong_bytes > 0) ++result.lost_sources;
    }
  }
  return result;
}

}  // namespace rankcheck::gpu::cuda
