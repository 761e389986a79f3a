#include "gpu/device/mpi/invocation.hpp"

#include <algorithm>

#include "gpu/device/element.hpp"

namespace rankcheck::gpu::mpi {

namespace {

/// Replaces every element of the blocks by function(element), computed in the type's arithmetic.
template <class T, class Function>
void transform_blocks(std::byte* buffer,
                      const std::vector<spec::Block>& blocks,
                      Function function) {
  using Arithmetic = element::Arithmetic<T>;
  constexpr auto bytes = static_cast<std::int64_t>(sizeof(T));
  for (const spec::Block& block : blocks) {
    for (std::int64_t i = block.offset; i < block.offset + block.count; ++i) {
      std::byte* const at = buffer + i * bytes;
      const auto value = Arithmetic::widen(element::load<T>(at));
      element::store(at, Arithmetic::narrow(function(value)));
    }
  }
}

}  // namespace

Blocks::Blocks(const std::vector<spec::Block>& blocks) {
  for (const spec::Block& block : blocks) {
    counts.push_back(static_cast<int>(block.count));
    displacements.push_back(static_cast<int>(block.offset));
  }
}

Reduction::Reduction(Invocation& invocation) : invocation_(invocation) {
  const spec::Call& call = invocation.call();
  if (call.op != spec::ReduceOp::premul_sum) return;
  const std::int64_t count = invocation.extents().send_size;
  const Site& site = invocation.site();
  if (!invocation.shares()) {
    scaled_.assign(site.send, site.send + count * spec::info(call.type).bytes);
    invocation.read_copy(scaled_.data());
  }
  std::byte* elements = invocation.shares() ? site.send : scaled_.data();
  element::visit_component(call.type, [&](auto zero) {
    using T = decltype(zero);
    const auto scalar = element::Arithmetic<T>::widen(element::load<T>(site.scalar));
    transform_blocks<T>(elements, invocation.extents().send, [&](auto value) {
      return element::multiply(value, scalar);
    });
  });
}

void Reduction::finish(std::int64_t terms) {
  const spec::Call& call = invocation_.call();
  if (call.op != spec::ReduceOp::avg || !invocation_.has_recv()) return;
  element::visit_component(call.type, [&](auto zero) {
    transform_blocks<decltype(zero)>(
        invocation_.site().recv, invocation_.extents().recv, [&](auto value) {
          return element::divide(value, static_cast<int>(terms));
        });
  });
}

}  // namespace rankcheck::gpu::mpi
