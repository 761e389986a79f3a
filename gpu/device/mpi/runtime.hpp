#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/spec/call.hpp"
#include "reference/spec/contract.hpp"

#include "gpu/device/mpi/communicator.hpp"
#include "gpu/device/mpi/registry.hpp"
#include "gpu/device/mpi/tuning.hpp"
#include "gpu/device/mpi/types.hpp"

namespace rankcheck::gpu::mpi {

/// One way in which this backend performs an operation.
struct Algorithm {
  const NamedOperation* operation = nullptr;
  std::string name;
  std::string summary;
  bool nonblocking = false;
  std::optional<Forcing> forcing;
};

/// A call and how it is to be made, the same on every member.
struct Request {
  const Algorithm& algorithm;
  const spec::Contract& contract;
  const spec::Call& call;
  /// World ranks in group order.
  const std::vector<int>& group;
  bool in_place = false;
  /// Elements of a segment; 0: the algorithm's choice.
  std::int64_t chunk = 0;
};

/// One member's memory in a call; null where the rank has no such buffer.
struct Buffers {
  std::byte* send = nullptr;
  std::byte* recv = nullptr;
  const std::byte* scalar = nullptr;
};

/// MPI in this process, from MPI_Init to MPI_Finalize. One per process.
class Runtime {
 public:
  Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  /// Ends all processes of the world at once, with this exit status: what one that cannot go on
  /// does while others may wait for it.
  [[noreturn]] static void abort(int status);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// The library's own words about itself, on one line.
  [[nodiscard]] static std::string version();

  [[nodiscard]] const std::vector<Algorithm>& algorithms() const { return algorithms_; }
  /// Null where there is none of that name; an empty name stands for the first, the plain call.
  [[nodiscard]] const Algorithm* find(std::string_view operation, std::string_view name) const;

  /// Why MPI has no such call, in words; empty where it has.
  [[nodiscard]] std::string why_refused(const Request& request) const;

  /// The three steps of a call, which every member takes; only the second is the call itself. All
  /// throw Error when MPI returns one.
  void prepare(const Request& request);
  /// Makes the call as this rank of the group.
  void perform(const Request& request,
               int group_rank,
               const spec::Extents& extents,
               const Buffers& buffers);
  /// The name of the algorithm that was seen to run; the requested one where nobody can see it.
  /// Throws std::runtime_error when another algorithm ran than the one that was forced.
  [[nodiscard]] std::string conclude(const Request& request);

 private:
  int rank_ = 0;
  int size_ = 1;
  std::optional<ToolInterface> tool_interface_;
  std::optional<Types> types_;
  std::vector<Algorithm> algorithms_;
  std::optional<Communicators> communicators_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
};

}  // namespace rankcheck::gpu::mpi
