#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/call.hpp"

namespace rankcheck::gpu::mpi {

class Invocation;

/// How a forced algorithm is to be used.
struct ForcedUse {
  const spec::Call& call;
  bool in_place = false;
  std::int64_t segment_elements = 1;

  /// The largest power of two that is not above the number of ranks.
  [[nodiscard]] std::int64_t power_of_two() const {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<unsigned>(call.ranks)));
  }
};

/// What Open MPI's component coll/tuned knows of an operation.
struct Tuning {
  /// Open MPI's word in coll_tuned_<collective>_algorithm; empty: it has no such variable.
  std::string_view collective = {};
  /// The variable's words whose function's name does not follow the rules of tuning.cpp, and these
  /// names.
  std::vector<std::pair<std::string_view, std::string_view>> functions = {};
  /// Where Open MPI (4.1) hands the call on to another algorithm than `word`, or refuses it, beyond
  /// what tuning.cpp says of every operation; empty where it does not. May be null.
  std::string_view (*why_unforceable)(std::string_view word, const ForcedUse& use) = nullptr;
};

/// How MPI performs an operation; made in gpu/collectives/<op>/mpi.cpp.
struct Operation {
  /// The functions that perform it, blocking and nonblocking. Every name that is quoted in such a
  /// file is watched when it is called: see witness.hpp.
  std::vector<std::string_view> blocking = {};
  std::vector<std::string_view> nonblocking = {};
  void (*perform)(Invocation& invocation) = nullptr;
  Tuning tuning = {};
};

}  // namespace rankcheck::gpu::mpi
