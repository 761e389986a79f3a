#include "gpu/ptycho/exchange/object_shares.hpp"

#include <algorithm>
#include <utility>

#include "reference/spec/assert.hpp"

#include "gpu/ptycho/kernels/arrays.hpp"

namespace rankcheck::gpu {

namespace {

using spec::Box;

bool all_whole(const spec::Scene& scene, const std::vector<Box>& held) {
  const Box whole{.rows = scene.rows, .cols = scene.cols};
  return std::all_of(held.begin(), held.end(), [&](const Box& box) { return box == whole; });
}

/// Marks the pixels of a part of a tile as not counted.
struct Discount {
  std::uint8_t* counted;
  Places places;

  RANKCHECK_HD void operator()(std::int64_t i) const { counted[places(i)] = 0; }
};

}  // namespace

ObjectShares::ObjectShares(Cluster& cluster, const spec::Scene& scene, const std::vector<Box>& held)
    : cluster_(cluster),
      exchange_(cluster, held, held),
      is_replicated_(all_whole(scene, held)),
      counted_(cluster) {
  for (const int rank : cluster.local()) {
    const Box& box = this->held(rank);
    std::uint8_t* const counted = counted_.get(rank, box.pixels());
    fill(cluster, rank, box.pixels(), counted, std::uint8_t{1});
    for (int lower = 0; lower < rank; ++lower) {
      const Box part = exchange_.part(lower, rank);
      launch(cluster, rank, part.pixels(), Discount{counted, {.part = part, .tile = box}});
    }
  }
}

template <class Value>
void ObjectShares::sum(const std::vector<Value*>& in, const std::vector<Value*>& out) {
  RANKCHECK_ASSERT(in.size() == cluster_.local().size() && out.size() == in.size());
  if (is_replicated_) {
    std::vector<DeviceBuffers> buffers;
    for (std::size_t place = 0; place < in.size(); ++place) {
      buffers.push_back({.send = reinterpret_cast<std::byte*>(in[place]),
                         .recv = reinterpret_cast<std::byte*>(out[place])});
    }
    cluster_.collective("all_reduce",
                        {.ranks = cluster_.ranks(),
                         .type = component_type<Value>,
                         .op = spec::ReduceOp::sum,
                         .count = held(0).pixels() * components_of<Value>},
                        false,
                        buffers);
    return;
  }
  const std::vector<const Value*> received =
      exchange_.exchange(std::vector<const Value*>(in.begin(), in.end()));
  for (std::size_t place = 0; place < out.size(); ++place) {
    const int rank = cluster_.local()[place];
    fill(cluster_, rank, held(rank).pixels(), out[place], Value{});
    exchange_.for_each_part(rank, received[place], [&](int, const Box& box, const Value* part) {
      launch(cluster_,
             rank,
             box.pixels(),
             AddPart<Value>{part, out[place], {.part = box, .tile = held(rank)}});
    });
  }
}

template void ObjectShares::sum(const std::vector<float*>&, const std::vector<float*>&);
template void ObjectShares::sum(const std::vector<double*>&, const std::vector<double*>&);
template void ObjectShares::sum(const std::vector<Complex<float>*>&,
                                const std::vector<Complex<float>*>&);
template void ObjectShares::sum(const std::vector<Complex<double>*>&,
                                const std::vector<Complex<double>*>&);

}  // namespace rankcheck::gpu
