#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <mpi.h>

#include "reference/spec/call.hpp"
#include "reference/spec/collective.hpp"
#include "reference/spec/to_size.hpp"

#include "gpu/device/mpi/block_type.hpp"
#include "gpu/device/mpi/error.hpp"
#include "gpu/device/mpi/operation.hpp"
#include "gpu/device/mpi/persistent.hpp"
#include "gpu/device/mpi/second_call.hpp"
#include "gpu/device/mpi/types.hpp"

namespace rankcheck::gpu::mpi {

/// One rank's site of a call. Buffers may have any alignment, and are null if the rank has no such
/// buffer. In place, they overlap as MPI_IN_PLACE requires.
struct Site {
  MPI_Comm communicator = MPI_COMM_NULL;
  /// The communicator of a second call. The same, unless the algorithm is two_communicators.
  MPI_Comm second_communicator = MPI_COMM_NULL;
  int rank = 0;
  bool nonblocking = false;
  /// Whether the call is a persistent request that is started several times.
  bool persistent = false;
  bool in_place = false;
  /// How blocks of equal sizes are described.
  BlockLayout layout = BlockLayout::elements;
  /// Whether elements have C's own types, see Types::c_type.
  bool has_c_types = false;
  /// Whether there is memory for a second call.
  bool has_second = true;
  /// Elements of a pack; 0 lets the algorithm choose.
  std::int64_t chunk = 0;
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  /// One element if the op is premul_sum.
  const std::byte* scalar = nullptr;
  /// Called once, just before the call under test. What else is under way, or was started before,
  /// then began earlier. May be null.
  const std::function<void()>* enter = nullptr;
  /// Makes other calls while a nonblocking call is under way, in place of a second call. May wait
  /// for its request. May be null.
  const std::function<void(MPI_Request& request)>* meanwhile = nullptr;
};

/// Counts and displacements in elements, in the form that MPI takes.
struct Blocks {
  explicit Blocks(const std::vector<spec::Block>& blocks);

  std::vector<int> counts;
  std::vector<int> displacements;
};

/// One rank's part in one call: the arguments in MPI's terms, and a way to make the call.
class Invocation {
 public:
  Invocation(const Operation& operation,
             const spec::Call& call,
             const spec::Extents& extents,
             const Site& site,
             const Types& types)
      : operation_(operation), call_(call), extents_(extents), site_(site), types_(types) {}

  [[nodiscard]] const spec::Call& call() const { return call_; }
  [[nodiscard]] const spec::Extents& extents() const { return extents_; }
  [[nodiscard]] const Site& site() const { return site_; }
  [[nodiscard]] const Types& types() const { return types_; }

  [[nodiscard]] int root() const { return call_.root; }
  /// Elements of one block, in an operation whose blocks have equal sizes.
  [[nodiscard]] int count() const { return static_cast<int>(call_.count); }
  [[nodiscard]] std::size_t element_bytes() const {
    return spec::to_size(spec::info(call_.type).bytes);
  }
  [[nodiscard]] MPI_Datatype type() const {
    return site_.has_c_types ? Types::c_type(call_.type) : types_.type(call_.type, call_.op);
  }
  /// A send or recv block of count() elements as arguments. Some ranks describe theirs as elements,
  /// whatever the layout, so that the two sides of a message differ.
  [[nodiscard]] BlockType send_block() const {
    // In place, the library ignores these arguments. Open MPI still chooses the algorithm by them,
    // so they must not differ between ranks from what is received.
    if (shares()) return recv_block();
    return block_type(site_.rank % 3 != 1, extents_.send_stride);
  }
  [[nodiscard]] BlockType recv_block() const {
    return block_type(site_.rank % 2 == 0, extents_.recv_stride);
  }
  /// The type of the elements of a buffer that may be strided.
  [[nodiscard]] MPI_Datatype send_type() const {
    return types_.strided(call_.type, extents_.send_stride);
  }
  [[nodiscard]] MPI_Datatype recv_type() const {
    return types_.strided(call_.type, extents_.recv_stride);
  }
  /// Elements of the rank's first send or recv block; 0 if it has no such buffer.
  [[nodiscard]] int send_count() const { return first_count(extents_.send); }
  [[nodiscard]] int recv_count() const { return first_count(extents_.recv); }

  /// Whether the operation uses this rank's input or output. A buffer that the operation does not
  /// use may exist, and must not be written.
  [[nodiscard]] bool has_send() const { return !extents_.send.empty(); }
  [[nodiscard]] bool has_recv() const { return !extents_.recv.empty(); }
  /// Whether this rank's buffers share memory in this call.
  [[nodiscard]] bool shares() const { return site_.in_place && has_send() && has_recv(); }
  [[nodiscard]] void* send() const { return site_.send; }
  [[nodiscard]] void* recv() const { return site_.recv; }
  /// The buffer, or MPI_IN_PLACE if it shares memory with the other buffer.
  [[nodiscard]] void* send_or_in_place() const { return shares() ? MPI_IN_PLACE : site_.send; }
  [[nodiscard]] void* recv_or_in_place() const { return shares() ? MPI_IN_PLACE : site_.recv; }

  /// Makes the blocking call. If the site is persistent, see start_again(). If it is nonblocking,
  /// starts the nonblocking call and a second one, works, and waits for the one first that was
  /// started last. If the second one has another communicator, every second rank starts the calls
  /// in the other order. A call of more than 1 GiB has no second one, and see Site::meanwhile.
  /// Throws Error.
  template <class Blocking, class Nonblocking, class Init, class... Arguments>
  void issue(Blocking blocking, Nonblocking nonblocking, Init init, Arguments... arguments) {
    if (site_.persistent) return start_again(init, arguments...);
    if (!site_.nonblocking) {
      enter();
      check(blocking(arguments..., site_.communicator), operation_.blocking.front());
      return;
    }
    const auto start = [&](MPI_Request* request) {
      enter();
      check(nonblocking(arguments..., site_.communicator, request), operation_.nonblocking.front());
    };
    if (site_.meanwhile != nullptr || !site_.has_second) {
      MPI_Request request = MPI_REQUEST_NULL;
      start(&request);
      SecondCall::work();
      if (site_.meanwhile != nullptr) (*site_.meanwhile)(request);
      check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
      return;
    }
    SecondCall second = second_call();
    std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    const auto start_second = [&](MPI_Request* request) {
      check(
          nonblocking(second.argument_of_second(arguments)..., site_.second_communicator, request),
          operation_.nonblocking.front());
    };
    if (second.starts_first() != is_crossed()) {
      start_second(&requests[0]);
      start(&requests[1]);
    } else {
      start(&requests[0]);
      start_second(&requests[1]);
    }
    SecondCall::work();
    check(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), "MPI_Wait");
    check(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait");
  }

  /// issue() for a call with a block of count() elements on both sides. `others` follow the blocks.
  template <class Blocking, class Nonblocking, class Init, class... Others>
  void issue_blocks(Blocking blocking,
                    Nonblocking nonblocking,
                    Init init,
                    void* from,
                    void* to,
                    Others... others) {
    const BlockType sent = send_block();
    const BlockType received = recv_block();
    issue(blocking,
          nonblocking,
          init,
          from,
          sent.count(),
          sent.type(),
          to,
          received.count(),
          received.type(),
          others...);
  }

  [[nodiscard]] bool has_two_communicators() const {
    return site_.second_communicator != site_.communicator;
  }
  /// Whether this rank starts the two calls in the other order than its neighbours.
  [[nodiscard]] bool is_crossed() const { return has_two_communicators() && site_.rank % 2 == 1; }

  /// Says that the call reads a copy of the send buffer, which must stay until the call ends.
  void read_copy(std::byte* copy) { copy_ = copy; }

  /// The buffers of a call that is under way at the same time.
  [[nodiscard]] SecondCall second_call() const {
    Site site = site_;
    if (copy_ != nullptr) site.send = copy_;
    return {call_, extents_, site};
  }

 private:
  void enter() const {
    if (site_.enter != nullptr) (*site_.enter)();
  }

  /// Makes two persistent requests on the same communicator, the second one with other data and
  /// memory. Starts both three times, each time with other data, and the last time with the data of
  /// the case. The last one that is started is waited for first. Throws Error.
  template <class Init, class... Arguments>
  void start_again(Init init, Arguments... arguments) {
    if constexpr (has_persistent) {
      SecondCall second = second_call();
      std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
      const std::size_t own = second.starts_first() ? 1 : 0;
      const auto make = [&](std::size_t k) {
        const auto made = init((k == own ? arguments : second.argument_of_second(arguments))...,
                               site_.communicator,
                               MPI_INFO_NULL,
                               &requests[k]);
        check(made, operation_.persistent.back());
      };
      make(0);
      make(1);
      second.keep_data();
      for (const unsigned change : {0xffU, 0x55U, 0U}) {
        second.change_data(std::byte(change));
        for (std::size_t k = 0; k < requests.size(); ++k) {
          if (change == 0 && k == own) enter();
          check(MPI_Start(&requests[k]), "MPI_Start");
        }
        SecondCall::work();
        check(MPI_Wait(&requests[1], MPI_STATUS_IGNORE), "MPI_Wait");
        check(MPI_Wait(&requests[0], MPI_STATUS_IGNORE), "MPI_Wait");
      }
      for (MPI_Request& each : requests) check(MPI_Request_free(&each), "MPI_Request_free");
    }
  }

  [[nodiscard]] BlockType block_type(bool has_layout, std::int64_t stride) const {
    const BlockLayout layout = has_layout ? site_.layout : BlockLayout::elements;
    return {layout, types_, call_.type, count(), stride};
  }

  static int first_count(const std::vector<spec::Block>& blocks) {
    return blocks.empty() ? 0 : static_cast<int>(blocks.front().count);
  }

  const Operation& operation_;
  const spec::Call& call_;
  const spec::Extents& extents_;
  const Site& site_;
  const Types& types_;
  std::byte* copy_ = nullptr;
};

/// Adds the reduce ops that MPI lacks. For premul_sum, the input is multiplied before the call, in
/// place or in a copy. For avg, the sum is divided after the call. Both round once in the element
/// type.
class Reduction {
 public:
  explicit Reduction(Invocation& invocation);

  /// The send buffer to give to MPI.
  [[nodiscard]] void* source() {
    return scaled_.empty() ? invocation_.send_or_in_place() : scaled_.data();
  }
  [[nodiscard]] MPI_Op op() const {
    return invocation_.types().op(invocation_.call().op, invocation_.call().type);
  }
  /// Completes this rank's result, of which each element is made of `terms` elements. Call it after
  /// the MPI call.
  void finish(std::int64_t terms);
  /// Completes a result that is made of one element of each rank.
  void finish() { finish(invocation_.call().ranks); }

 private:
  const Invocation& invocation_;
  std::vector<std::byte> scaled_;
};

/// Makes a reduction: Invocation::issue() for a call whose first arguments are input and output.
/// `counts` is the count or the counts of elements, and `others` follow the op.
template <class Blocking, class Nonblocking, class Init, class Counts, class... Others>
void issue_reduction(Invocation& run,
                     Blocking blocking,
                     Nonblocking nonblocking,
                     Init init,
                     Counts counts,
                     Others... others) {
  Reduction reduction(run);
  run.issue(blocking,
            nonblocking,
            init,
            reduction.source(),
            run.recv(),
            counts,
            run.type(),
            reduction.op(),
            others...);
  reduction.finish();
}

}  // namespace rankcheck::gpu::mpi
