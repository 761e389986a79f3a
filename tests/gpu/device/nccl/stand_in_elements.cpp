#include "tests/gpu/device/nccl/stand_in_elements.hpp"

#include <cstring>
#include <type_traits>

#include "gpu/device/element.hpp"

namespace rankcheck::stand_in {

namespace {

namespace element = gpu::element;

spec::ReduceOp pairwise(int op) {
  switch (op) {
    case ncclProd:
      return spec::ReduceOp::prod;
    case ncclMax:
      return spec::ReduceOp::max;
    case ncclMin:
      return spec::ReduceOp::min;
    default:
      return spec::ReduceOp::sum;
  }
}

/// Replaces every element by function(element) in the type's arithmetic.
template <class T, class Function>
void transform(Bytes& bytes, Function function) {
  using Arithmetic = element::Arithmetic<T>;
  for (std::size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    const auto value = Arithmetic::widen(element::load<T>(bytes.data() + at));
    element::store(bytes.data() + at, Arithmetic::narrow(function(value)));
  }
}

/// Whether a mean is a sum of scaled elements, as in NCCL for floating-point numbers.
bool scales_first(spec::Type type) {
  return !spec::is_integer(type);
}

}  // namespace

Bytes contribution(const ncclComm& comm, spec::Type type, int op, const void* from, std::size_t n) {
  Bytes bytes(n);
  if (n > 0) std::memcpy(bytes.data(), from, n);
  element::visit_component(type, [&](auto zero) {
    using T = decltype(zero);
    using Arithmetic = element::Arithmetic<T>;
    if (op >= ncclNumOps && !is_planted("unscaled")) {
      const auto scalar = Arithmetic::widen(element::load<T>(comm.scalars.at(op).data()));
      transform<T>(bytes, [&](auto value) { return element::multiply(value, scalar); });
    }
    if constexpr (!std::is_integral_v<T>) {
      if (op != ncclAvg) return;
      using Value = typename Arithmetic::Value;
      const auto share = Arithmetic::round(Value(1) / static_cast<Value>(comm.ranks));
      transform<T>(bytes, [&](auto value) { return value * share; });
    }
  });
  return bytes;
}

Bytes combine(const ncclComm& comm, spec::Type type, int op, const Work& work) {
  Bytes result;
  const std::size_t dropped = is_planted("drop_rank") && comm.ranks > 1 ? 1 : 0;
  for (std::size_t r = 0; r + dropped < work.received.size(); ++r) {
    Message& message = *work.received[r];
    if (r == 0) {
      result.assign(message.payload(), message.payload() + message.signature.bytes);
      continue;
    }
    element::visit_component(type, [&](auto zero) {
      using T = decltype(zero);
      using Arithmetic = element::Arithmetic<T>;
      element::visit_pairwise<T>(pairwise(op), [&](auto pair) {
        for (std::size_t at = 0; at + sizeof(T) <= result.size(); at += sizeof(T)) {
          const auto a = Arithmetic::widen(element::load<T>(result.data() + at));
          const auto b = Arithmetic::widen(element::load<T>(message.payload() + at));
          element::store(result.data() + at,
                         Arithmetic::narrow(element::combine<pair.value>(a, b)));
        }
      });
    });
  }
  const bool divides =
      (op == ncclAvg && !scales_first(type)) || (op == ncclSum && is_planted("mean_for_sum"));
  if (!divides) return result;
  element::visit_component(type, [&](auto zero) {
    transform<decltype(zero)>(result, [&](auto v) { return element::divide(v, comm.ranks); });
  });
  return result;
}

}  // namespace rankcheck::stand_in
