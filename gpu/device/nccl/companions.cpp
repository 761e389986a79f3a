#include "gpu/device/nccl/companions.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::nccl {

namespace {

constexpr std::int64_t number_bytes = sizeof(std::int64_t);

/// What a rank sends.
std::int64_t number_of(int rank) {
  return 1000 * std::int64_t{rank + 1};
}

/// What every rank receives.
std::vector<std::int64_t> expected_of(const Companion& companion) {
  std::vector<std::int64_t> numbers;
  for (int rank = 0; rank < companion.ranks; ++rank) numbers.push_back(number_of(rank));
  if (companion.gathers) return numbers;
  return {std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0})};
}

const char* name_of(const Companion& companion) {
  return companion.gathers ? "ncclAllGather" : "ncclAllReduce";
}

}  // namespace

void Companions::make_ready(std::vector<Companion> wanted) {
  all_ = std::move(wanted);
  for (Companion& each : all_) {
    std::vector<std::int64_t> content(spec::to_size(each.ranks) + 1, -1);
    content.front() = number_of(each.rank);
    const auto bytes = static_cast<std::int64_t>(content.size()) * number_bytes;
    each.memory = devices_.allocate(each.slot, bytes);
    devices_.write(each.slot, content.data(), each.memory, bytes);
  }
}

void Companions::call(ncclComm_t communicator) const {
  const Companion& its = *std::find_if(all_.begin(), all_.end(), [&](const Companion& each) {
    return each.communicator == communicator;
  });
  std::byte* const recv = its.memory + number_bytes;
  const cudaStream_t stream = devices_.stream(its.slot);
  nccl_.check(
      its.gathers
          ? nccl_->ncclAllGather(its.memory, recv, 1, ncclInt64, communicator, stream)
          : nccl_->ncclAllReduce(its.memory, recv, 1, ncclInt64, ncclSum, communicator, stream),
      name_of(its));
}

void Companions::check() const {
  for (const Companion& each : all_) {
    const std::vector<std::int64_t> expected = expected_of(each);
    std::vector<std::int64_t> got(expected.size());
    devices_.read(each.slot,
                  each.memory + number_bytes,
                  got.data(),
                  static_cast<std::int64_t>(got.size()) * number_bytes);
    const auto [wrong, right] = std::mismatch(got.begin(), got.end(), expected.begin());
    if (wrong == got.end()) continue;
    throw std::runtime_error(
        fmt::format("in the same group, {} gave rank {} the number {} at place {}, expected {}",
                    name_of(each),
                    each.rank,
                    *wrong,
                    wrong - got.begin(),
                    *right));
  }
}

}  // namespace rankcheck::gpu::nccl
