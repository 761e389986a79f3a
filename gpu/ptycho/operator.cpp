#include "gpu/ptycho/operator.hpp"

#include <algorithm>
#include <string>

#include "reference/spec/share.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/ptycho/kernels/arrays.hpp"

namespace rankcheck::gpu {

namespace {

std::int64_t offset_of(const std::vector<spec::Block>& blocks, spec::Array array) {
  for (const spec::Block& block : blocks) {
    if (block.array == array) return block.offset;
  }
  throw DeviceError("the call has no array " + std::string(spec::name(array)));
}

}  // namespace

OperatorRun::OperatorRun(Cluster& cluster,
                         const spec::Contract& contract,
                         const spec::OperatorCall& call,
                         std::span<const DeviceBuffers> buffers)
    : cluster_(cluster), contract_(contract), call_(call), buffers_(buffers) {
  for (const int rank : cluster.local()) {
    fill_extents(contract, call, rank, extents_.emplace_back());
  }
}

std::int64_t OperatorRun::size(int rank, spec::Array array) const {
  return spec::part_of(scene(), call_.counts, array, rank).count;
}

std::size_t OperatorRun::place(int rank) const {
  const auto ranks = cluster_.local();
  return spec::to_size(std::lower_bound(ranks.begin(), ranks.end(), rank) - ranks.begin());
}

const std::byte* OperatorRun::input(int rank, spec::Array array) const {
  const std::size_t at = place(rank);
  return buffers_[at].send + offset_of(extents_[at].send, array) * spec::info(call_.type).bytes;
}

std::byte* OperatorRun::output(int rank, spec::Array array) const {
  const std::size_t at = place(rank);
  return buffers_[at].recv + offset_of(extents_[at].recv, array) * spec::info(call_.type).bytes;
}

void OperatorRun::sum_over_ranks(spec::Array array) const {
  std::vector<std::byte*> arrays;
  for (const int rank : local()) arrays.push_back(output(rank, array));
  gpu::sum_over_ranks(cluster_, call_.type, spec::components(scene(), array), arrays);
}

void OperatorRun::put_cost(const std::vector<double*>& sums) const {
  std::vector<std::byte*> arrays;
  for (double* const sum : sums) arrays.push_back(reinterpret_cast<std::byte*>(sum));
  gpu::sum_over_ranks(cluster_, spec::Type::f64, 1, arrays);
  with_precision(call_.type, [&]<class T>() {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const int rank = local()[i];
      launch(cluster_, rank, 1, RoundToType<T>{sums[i], out<T>(rank, spec::Array::cost)});
    }
  });
}

}  // namespace rankcheck::gpu
