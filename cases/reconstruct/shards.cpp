#include "cases/reconstruct/shards.hpp"

#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>

#include "reference/spec/to_size.hpp"

#include "harness/base/hash.hpp"

namespace rankcheck::cases::reconstruct {

namespace {

std::vector<std::vector<std::int64_t>> positions_of_ranks(const Dataset& data,
                                                          int ranks,
                                                          gpu::Partition partition,
                                                          int batches) {
  const std::vector<double> corners(data.positions.begin(), data.positions.end());
  const std::vector<int> owners = gpu::owners(partition, corners, ranks);
  std::vector<std::vector<std::int64_t>> all(spec::to_size(ranks));
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    for (std::int64_t n = batch; n < data.count; n += batches) {
      all[spec::to_size(owners[spec::to_size(n)])].push_back(n);
    }
  }
  return all;
}

template <class T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// Returns the hash of a frame and its position in the scan.
std::uint64_t hash_of_frame(std::int64_t position, std::span<const float> frame) {
  const std::span<const std::int64_t> number(&position, 1);
  return harness::hash_of(bytes_of(frame), harness::hash_of(bytes_of(number)));
}

}  // namespace

Shards::Shards(const Dataset& data, gpu::Cluster& cluster, gpu::Partition partition, int batches)
    : cluster_(cluster), positions_(positions_of_ranks(data, cluster.ranks(), partition, batches)) {
  struct Place {
    int rank = -1;
    float* frame = nullptr;
  };
  const auto pixels = static_cast<std::int64_t>(data.pixels());
  std::vector<Place> places(spec::to_size(data.count));
  for (const int rank : cluster.local()) {
    const auto& own = positions_[spec::to_size(rank)];
    const auto count = static_cast<std::int64_t>(own.size());
    float* frame = frames_.emplace_back(cluster.allocate_array<float>(rank, count * pixels));
    for (const std::int64_t n : own) {
      places[spec::to_size(n)] = {.rank = rank, .frame = frame};
      frame += pixels;
    }
  }
  std::vector<float> frame(data.pixels());
  std::vector<double> totals(spec::to_size(data.count), 0);
  if (!data.has_probe) mean_frame_.assign(data.pixels(), 0);
  if (cluster.local().front() == 0) {
    fingerprint_ = harness::hash_of(bytes_of(std::span(data.mask)));
  }
  // The loop follows the order of the file, in which reading is fastest.
  for (std::int64_t n = 0; n < data.count; ++n) {
    const Place& place = places[spec::to_size(n)];
    if (place.rank < 0) continue;
    data.read_frame(n, frame);
    const auto bytes = pixels * static_cast<std::int64_t>(sizeof(float));
    cluster.write(place.rank, frame.data(), place.frame, bytes);
    fingerprint_ += hash_of_frame(n, frame);
    totals[spec::to_size(n)] = total_of(frame);
    for (std::size_t i = 0; i < mean_frame_.size(); ++i) mean_frame_[i] += frame[i];
  }
  sum_over_processes(spec::Type::uint64, std::span(&fingerprint_, 1));
  sum_over_processes(spec::Type::f64, std::span(totals));
  total_ = std::accumulate(totals.begin(), totals.end(), 0.0);
  if (data.has_probe) return;
  sum_over_processes(spec::Type::f64, std::span(mean_frame_));
  for (double& value : mean_frame_) value /= static_cast<double>(data.count);
}

template <class Number>
void Shards::sum_over_processes(spec::Type type, std::span<Number> numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  const auto bytes = static_cast<std::int64_t>(numbers.size_bytes());
  std::vector<std::byte*> arrays;
  const std::vector<Number> zeros(numbers.size(), 0);
  for (const int rank : cluster_.local()) {
    arrays.push_back(cluster_.allocate(rank, bytes));
    const bool is_first = rank == cluster_.local().front();
    cluster_.write(rank, is_first ? numbers.data() : zeros.data(), arrays.back(), bytes);
  }
  gpu::sum_over_ranks(cluster_, type, count, arrays);
  cluster_.read(cluster_.local().front(), arrays.front(), numbers.data(), bytes);
}

}  // namespace rankcheck::cases::reconstruct
