#include "cases/reconstruct/fingerprint.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

#include "harness/base/hash.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

}  // namespace

void Fingerprint::add_mask(std::span<const float> mask) {
  sum_ += harness::hash_of(bytes_of(mask));
}

void Fingerprint::add_frame(std::int64_t position, std::span<const float> frame) {
  const std::span<const std::int64_t> number(&position, 1);
  sum_ += harness::hash_of(bytes_of(frame), harness::hash_of(bytes_of(number)));
}

std::uint64_t fingerprint(const Dataset& data) {
  Fingerprint print;
  print.add_mask(data.mask);
  std::vector<float> frame(data.pixels());
  for (std::int64_t n = 0; n < data.count; ++n) {
    data.read_frame(n, frame);
    print.add_frame(n, frame);
  }
  return print.value();
}

}  // namespace rankcheck::cases::reconstruct
