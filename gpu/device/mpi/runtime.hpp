#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/collective.hpp"

#include "gpu/device/mpi/block_type.hpp"
#include "gpu/device/mpi/communicator.hpp"
#include "gpu/device/mpi/operation.hpp"
#include "gpu/device/mpi/selected_algorithm.hpp"
#include "gpu/device/mpi/transport.hpp"
#include "gpu/device/mpi/tuning.hpp"
#include "gpu/device/mpi/types.hpp"

namespace rankcheck::gpu::mpi {

/// One way in which this backend performs an operation.
struct Algorithm {
  const NamedOperation* operation = nullptr;
  std::string name;
  std::string summary;
  bool nonblocking = false;
  /// Whether the second nonblocking call has a communicator of its own.
  bool two_communicators = false;
  bool persistent = false;
  BlockLayout layout = BlockLayout::elements;
  /// Whether elements have C's own types, see Types::c_type.
  bool has_c_types = false;
  std::optional<Forcing> forcing = {};
  std::optional<SelectedAlgorithm> selected = {};
  /// Null if no component is forced. The processes must have been started with its environment.
  const Component* component = nullptr;
  /// Null if no transport is forced. The processes must have been started with its environment.
  const Transport* transport = nullptr;
  /// Null if the operation is one MPI call.
  const Composition* composition = nullptr;
};

/// A call and the way to make it. It must be the same on every member.
struct Request {
  const Algorithm& algorithm;
  const spec::Contract& contract;
  const spec::Call& call;
  /// World ranks in group order.
  const std::vector<int>& group;
  bool in_place = false;
  /// The larger one of the strides of input and output.
  std::int64_t stride = 1;
  /// The host of each member. Empty if all are on one.
  std::vector<int> hosts = {};
  /// Elements of a segment; 0 lets the algorithm choose.
  std::int64_t chunk = 0;
  /// Whether the two communicators of an algorithm are swapped. Only one of the two calls is looked
  /// at, so each communicator has its turn.
  bool on_second = false;
  /// What this member does while the call is under way: other calls, which end before this one. The
  /// algorithm then must be nonblocking. May be null.
  const std::function<void()>* meanwhile = nullptr;
  /// Whether what is under way is waited for in the order in which it started, before this call.
  /// Otherwise this call is waited for first.
  bool waits_for_oldest = false;
};

/// One member's memory in a call. A pointer is null if the rank has no such buffer.
struct Buffers {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  const std::byte* scalar = nullptr;
};

/// MPI in this process, from MPI_Init to MPI_Finalize. A process may have only one.
class Runtime {
 public:
  Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Ends all processes of the world at once with this exit status. For a process that cannot go on
  /// while others may wait for it.
  [[noreturn]] static void abort(int status);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// The library's description of itself, on one line.
  [[nodiscard]] static std::string version();

  [[nodiscard]] const std::vector<Algorithm>& algorithms() const { return algorithms_; }
  /// The algorithm of that name; null if there is none. An empty name means the operation's first
  /// algorithm, the plain call.
  [[nodiscard]] const Algorithm* find(std::string_view operation, std::string_view name) const;

  /// Says why MPI cannot make such a call; empty if it can.
  [[nodiscard]] std::string why_refused(const Request& request) const;

  /// Makes the communicators of these calls before the first of them. This process must be a member
  /// of every group. The communicators stay until release(). If `meets`, the members of the last
  /// group then wait for one another; they must all make the same last call.
  void hold(std::span<const Request> requests, bool meets);
  void release();
  /// Frees the communicators of a group, whose members all call this function at the same place
  /// between calls.
  void forget(const std::vector<int>& group) { communicators_->forget(group); }

  /// prepare(), perform() and conclude() are the steps of a call, and every member takes all of
  /// them. Only perform() makes the MPI call itself. prepare() and perform() throw Error if MPI
  /// returns an error.
  void prepare(const Request& request);
  /// Makes the call as rank `group_rank` of the group. Calls `enter` before. If the operation
  /// synchronises, other calls under way on the same communicators then have begun already, and
  /// would not hold up a rank in its place. Throws Unusable on all members if the library cannot
  /// use the selected algorithm.
  void perform(
      const Request& request,
      int group_rank,
      const spec::Extents& extents,
      const Buffers& buffers,
      const std::function<void()>& enter = [] {});
  /// Returns the name of the algorithm that was seen to run, or the requested one if calls cannot
  /// be observed or if others were made meanwhile. Throws WrongPath if another algorithm than the
  /// forced one ran, and UnseenPath if nobody saw which one ran in a library that the interposer
  /// does not know. If `goes_on`, the next call follows without a wait for the other ranks.
  [[nodiscard]] std::string conclude(const Request& request, bool goes_on);

 private:
  [[nodiscard]] std::string why_op_refused(const Request& request) const;
  [[nodiscard]] static std::string why_composition_refused(const Request& request);

  /// Ends when all members have made as many nonblocking calls as this rank. If the library has
  /// counted a call on some of them only, this hangs, and not a later case.
  void await_group();

  int rank_ = 0;
  int size_ = 1;
  std::optional<ToolInterface> tool_interface_;
  std::optional<Types> types_;
  std::vector<Algorithm> algorithms_;
  std::optional<Communicators> communicators_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Comm second_communicator_ = MPI_COMM_NULL;
  /// The addresses of the last call's buffers.
  std::vector<std::intptr_t> buffers_;
  /// The requests of calls that are under way during other calls, the oldest first.
  std::vector<MPI_Request*> under_way_;
};

}  // namespace rankcheck::gpu::mpi
