#include "cases/reconstruct/dataset.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "reference/spec/to_size.hpp"

namespace rankcheck::cases::reconstruct {

void Dataset::read_frame(std::int64_t n, std::span<float> frame) const {
  if (frames.empty()) return source->read(n, frame);
  const auto first = spec::to_size(n) * pixels();
  std::copy_n(frames.begin() + static_cast<std::ptrdiff_t>(first), pixels(), frame.begin());
}

double Dataset::total() const {
  if (frames.empty()) return source_total;
  double total = 0;
  for (std::size_t first = 0; first < frames.size(); first += pixels()) {
    total += total_of(std::span(frames).subspan(first, pixels()));
  }
  return total;
}

Dataset read_dataset(const std::filesystem::path& path) {
  Dataset data = open_dataset(path);
  std::vector<float> frames(spec::to_size(data.count) * data.pixels());
  for (std::int64_t n = 0; n < data.count; ++n) {
    const auto first = spec::to_size(n) * data.pixels();
    data.read_frame(n, std::span(frames).subspan(first, data.pixels()));
  }
  data.frames = std::move(frames);
  data.source.reset();
  require_light(data, data.total());
  return data;
}

}  // namespace rankcheck::cases::reconstruct
