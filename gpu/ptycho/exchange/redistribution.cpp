#include "gpu/ptycho/exchange/redistribution.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "reference/spec/assert.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/kernels/arrays.hpp"

namespace rankcheck::gpu {

namespace {

/// Moves values between the order of positions and the order of owners. Element i of the sorted
/// array belongs to position places[i].
template <class T>
struct Sort {
  const T* from;
  T* to;
  const std::int64_t* places;
  std::int64_t size;
  bool gather;

  RANKCHECK_HD void operator()(std::int64_t i) const {
    const std::int64_t place = places[i / size] * size + i % size;
    if (gather) {
      to[i] = from[place];
    } else {
      to[place] = from[i];
    }
  }
};

/// The owners of all positions. Every rank has the same list; this process reads its first rank's
/// copy.
template <class T>
std::vector<int> owners_of(const OperatorRun& run) {
  const int rank = run.local().front();
  const std::vector<T> read = run.cluster().read_array(
      rank, run.in<T>(rank, spec::Array::owners), run.size(rank, spec::Array::owners));
  return {read.begin(), read.end()};
}

/// An array of all local ranks: an input if T is const, else an output.
template <class T>
std::vector<T*> arrays(const OperatorRun& run, spec::Array array) {
  std::vector<T*> all;
  for (const int rank : run.local()) {
    if constexpr (std::is_const_v<T>) {
      all.push_back(run.in<std::remove_const_t<T>>(rank, array));
    } else {
      all.push_back(run.out<T>(rank, array));
    }
  }
  return all;
}

}  // namespace

Redistribution::Redistribution(Cluster& cluster,
                               std::vector<std::int64_t> counts,
                               std::vector<int> owners)
    : cluster_(cluster), counts_(std::move(counts)), owners_(std::move(owners)) {
  begins_.push_back(0);
  for (const std::int64_t count : counts_) begins_.push_back(begins_.back() + count);
  RANKCHECK_ASSERT(counts_.size() == spec::to_size(cluster.ranks()));
  RANKCHECK_ASSERT(owners_.size() == spec::to_size(begins_.back()));
}

std::int64_t Redistribution::owned(int rank) const {
  return std::count(owners_.begin(), owners_.end(), rank);
}

std::vector<std::int64_t> Redistribution::moved(int from, int to) const {
  const std::int64_t begin = begins_[spec::to_size(from)];
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < counts_[spec::to_size(from)]; ++i) {
    if (owners_[spec::to_size(begin + i)] == to) places.push_back(i);
  }
  return places;
}

const std::int64_t* Redistribution::sorted_by_owner(int rank) {
  std::vector<std::int64_t> places;
  for (int owner = 0; owner < cluster_.ranks(); ++owner) {
    const auto part = moved(rank, owner);
    places.insert(places.end(), part.begin(), part.end());
  }
  const auto count = static_cast<std::int64_t>(places.size());
  auto* on_device = cluster_.allocate_array<std::int64_t>(rank, count);
  cluster_.write_array(rank, places, on_device);
  return on_device;
}

template <class T>
void Redistribution::exchange(const std::vector<const T*>& in,
                              const std::vector<T*>& out,
                              std::int64_t size,
                              bool to_owners) {
  RANKCHECK_ASSERT(in.size() == cluster_.local().size() && out.size() == in.size());
  const int n = cluster_.ranks();
  spec::Call call{.ranks = n, .type = component_type<T>};
  for (int from = 0; from < n; ++from) {
    for (int to = 0; to < n; ++to) {
      const auto places = to_owners ? moved(from, to) : moved(to, from);
      call.counts.push_back(static_cast<std::int64_t>(places.size()) * size);
    }
  }
  std::vector<DeviceBuffers> buffers;
  for (std::size_t place = 0; place < in.size(); ++place) {
    // Collectives do not change what they send, so removing const is safe.
    buffers.push_back({.send = reinterpret_cast<std::byte*>(const_cast<T*>(in[place])),
                       .recv = reinterpret_cast<std::byte*>(out[place])});
  }
  cluster_.collective("all_to_all_v", call, false, buffers);
}

template <class T>
void Redistribution::redistribute(const std::vector<const T*>& in,
                                  const std::vector<T*>& shards,
                                  std::int64_t size) {
  RANKCHECK_ASSERT(in.size() == cluster_.local().size());
  std::vector<const T*> sorted;
  for (const int rank : cluster_.local()) {
    const std::int64_t count = counts_[spec::to_size(rank)] * size;
    T* const to = cluster_.allocate_array<T>(rank, count);
    const T* const from = in[sorted.size()];
    launch(cluster_, rank, count, Sort<T>{from, to, sorted_by_owner(rank), size, true});
    sorted.push_back(to);
  }
  exchange(sorted, shards, size, true);
  const std::int64_t room = begins_.back();
  for (std::size_t place = 0; place < shards.size(); ++place) {
    const int rank = cluster_.local()[place];
    const std::int64_t own = owned(rank);
    fill(cluster_, rank, (room - own) * size, shards[place] + own * size, T{0});
  }
}

template <class T>
void Redistribution::fuse(const std::vector<const T*>& shards,
                          const std::vector<T*>& out,
                          std::int64_t size) {
  std::vector<T*> sorted;
  for (const int rank : cluster_.local()) {
    const std::int64_t count = counts_[spec::to_size(rank)] * size;
    sorted.push_back(cluster_.allocate_array<T>(rank, count));
  }
  exchange(shards, sorted, size, false);
  for (std::size_t place = 0; place < out.size(); ++place) {
    const int rank = cluster_.local()[place];
    const std::int64_t count = counts_[spec::to_size(rank)] * size;
    launch(cluster_,
           rank,
           count,
           Sort<T>{sorted[place], out[place], sorted_by_owner(rank), size, false});
  }
}

template void Redistribution::redistribute(const std::vector<const float*>&,
                                           const std::vector<float*>&,
                                           std::int64_t);
template void Redistribution::redistribute(const std::vector<const double*>&,
                                           const std::vector<double*>&,
                                           std::int64_t);
template void Redistribution::fuse(const std::vector<const float*>&,
                                   const std::vector<float*>&,
                                   std::int64_t);
template void Redistribution::fuse(const std::vector<const double*>&,
                                   const std::vector<double*>&,
                                   std::int64_t);

void run_redistribution(const OperatorRun& run, bool to_owners) {
  using spec::Array;
  with_precision(run.call().type, [&]<class T>() {
    Redistribution plan(run.cluster(), run.call().counts, owners_of<T>(run));
    for (const auto& [whole, shard] : {std::pair(Array::positions, Array::shard_positions),
                                       std::pair(Array::frames, Array::shard_frames)}) {
      const std::int64_t size = spec::values(run.scene(), whole);
      if (to_owners) {
        plan.redistribute(arrays<const T>(run, whole), arrays<T>(run, shard), size);
      } else {
        plan.fuse(arrays<const T>(run, shard), arrays<T>(run, whole), size);
      }
    }
  });
}

}  // namespace rankcheck::gpu
