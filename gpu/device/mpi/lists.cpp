#include "gpu/device/mpi/lists.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "reference/spec/to_size.hpp"

namespace rankcheck::gpu::mpi {

namespace {

/// The arrays of a rank. Input and result have the same layout.
const std::vector<spec::Block>& arrays_of(const Invocation& run) {
  return run.has_send() ? run.extents().send : run.extents().recv;
}

/// One rank's list, ready for MPI's calls: inputs are premultiplied, or copied to the result if MPI
/// takes both in one buffer.
class List {
 public:
  explicit List(Invocation& run) : run_(run) {
    if (run.call().op != spec::ReduceOp::none) {
      reduction_.emplace(run);
      source_ = reduction_->source();
      return;
    }
    if (!run.has_send() || run.shares()) return;
    for (const spec::Block& array : arrays_of(run))
      copy(at(run.send(), array), at_out(array), array);
  }

  [[nodiscard]] ArraySite site(const spec::Block& array) {
    return {.in = source_ == MPI_IN_PLACE ? MPI_IN_PLACE : at(source_, array),
            .out = at_out(array),
            .count = static_cast<int>(array.count),
            .op = op()};
  }
  [[nodiscard]] MPI_Op op() const { return reduction_ ? reduction_->op() : MPI_OP_NULL; }

  /// The elements of all arrays, without gaps. The elements of a rank without input are undefined.
  [[nodiscard]] std::vector<std::byte> pack() {
    std::vector<std::byte> packed;
    for (const spec::Block& array : arrays_of(run_)) {
      const bool shared = source_ == MPI_IN_PLACE || source_ == nullptr;
      const auto* const from =
          static_cast<const std::byte*>(shared ? at_out(array) : at(source_, array));
      packed.insert(packed.end(), from, from + bytes_of(array));
    }
    return packed;
  }

  /// Takes the elements of the result from a pack.
  void unpack(const std::vector<std::byte>& packed) {
    if (!run_.has_recv()) return;
    const std::byte* from = packed.data();
    for (const spec::Block& array : arrays_of(run_)) {
      copy(from, at_out(array), array);
      from += bytes_of(array);
    }
  }

  void finish() {
    if (reduction_) reduction_->finish();
  }

 private:
  [[nodiscard]] std::size_t bytes_of(const spec::Block& array) const {
    return spec::to_size(array.count) * run_.element_bytes();
  }
  [[nodiscard]] void* at(void* buffer, const spec::Block& array) const {
    if (buffer == nullptr) return nullptr;
    return static_cast<std::byte*>(buffer) + spec::to_size(array.offset) * run_.element_bytes();
  }
  [[nodiscard]] void* at_out(const spec::Block& array) const { return at(run_.recv(), array); }
  void copy(const void* from, void* to, const spec::Block& array) const {
    if (array.count > 0) std::memcpy(to, from, bytes_of(array));
  }

  const Invocation& run_;
  std::optional<Reduction> reduction_;
  void* source_ = nullptr;
};

}  // namespace

void call_one_by_one(Invocation& run, const ArrayCalls& calls) {
  List list(run);
  for (const spec::Block& array : arrays_of(run)) {
    check(calls.blocking(run, list.site(array)), calls.blocking_name);
  }
  list.finish();
}

void call_packed(Invocation& run, const ArrayCalls& calls) {
  List list(run);
  std::vector<std::byte> in = list.pack();
  std::vector<std::byte> out = in;
  const auto bytes = run.element_bytes();
  const std::size_t elements = in.size() / bytes;
  const std::size_t pack = run.site().chunk > 0 ? spec::to_size(run.site().chunk) : elements;
  for (std::size_t start = 0; start < elements; start += pack) {
    const ArraySite site{.in = in.data() + start * bytes,
                         .out = out.data() + start * bytes,
                         .count = static_cast<int>(std::min(pack, elements - start)),
                         .op = list.op()};
    check(calls.blocking(run, site), calls.blocking_name);
  }
  list.unpack(out);
  list.finish();
}

void call_at_once(Invocation& run, const ArrayCalls& calls) {
  List list(run);
  std::vector<MPI_Request> requests;
  requests.reserve(arrays_of(run).size());
  for (const spec::Block& array : arrays_of(run)) {
    requests.push_back(MPI_REQUEST_NULL);
    check(calls.nonblocking(run, list.site(array), &requests.back()), calls.nonblocking_name);
    SecondCall::work();
  }
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
  list.finish();
}

}  // namespace rankcheck::gpu::mpi
