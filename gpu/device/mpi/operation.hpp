#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/spec/call.hpp"

namespace rankcheck::gpu::mpi {

class Invocation;

/// A call that is to be made with a forced algorithm.
struct ForcedUse {
  const spec::Call& call;
  bool in_place = false;
  std::int64_t segment_elements = 1;

  /// The largest power of two that is not above the number of ranks.
  [[nodiscard]] std::int64_t power_of_two() const {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<unsigned>(call.ranks)));
  }
};

/// The libraries' names for an operation and for its algorithms in Open MPI's component coll/tuned.
struct Tuning {
  /// The word in coll_tuned_<collective>_algorithm and coll_libnbc_i<collective>_algorithm, and in
  /// capitals in MPIR_CVAR_<COLLECTIVE>_INTRA_ALGORITHM. A library may lack some of these
  /// variables. Empty if no library has one.
  std::string_view collective = {};
  /// Pairs of an algorithm's word and its function's name. Only for names that break the rules of
  /// tuning.cpp.
  std::vector<std::pair<std::string_view, std::string_view>> functions = {};
  /// The words of the algorithms that combine in the order of the ranks, also if the op does not
  /// commute. Others run all the same in Open MPI if they are forced, and their result is wrong.
  std::vector<std::string_view> in_order = {};
  /// Says why Open MPI (4.1) would not run the algorithm `word` for the call: it runs another one
  /// or refuses the call. Empty if it runs `word`. tuning.cpp adds the reasons that hold for every
  /// operation. May be null.
  std::string_view (*why_unforceable)(std::string_view word, const ForcedUse& use) = nullptr;
};

/// Calls that together perform an operation, or a second function that MPI has for it.
struct Composition {
  std::string_view name;
  std::string_view summary;
  /// The MPI functions that it calls if there is an element to move.
  std::vector<std::string_view> functions;
  void (*perform)(Invocation& invocation) = nullptr;
  /// True if it works in pieces of Site::chunk elements. Other compositions refuse a chunk size.
  bool in_chunks = false;
  /// True if it gives MPI displacements in bytes, each in an int.
  bool has_byte_places = false;
  /// The libraries' word for the collective, if it is one whose algorithm MPICH can be forced to
  /// use; see Tuning::collective.
  std::string_view collective = {};
  /// Whether its calls return before they are done.
  bool nonblocking = false;
  /// Says why this composition does not take a (legal) call; empty if it does. May be null.
  std::string_view (*why_refused)(const spec::Call& call, bool in_place) = nullptr;
};

/// How MPI performs an operation. Made in gpu/collectives/<op>/mpi.cpp.
struct Operation {
  /// The MPI functions that perform it, blocking and nonblocking. Every quoted MPI name in such a
  /// file is watched when it is called: see interposer.hpp.
  std::vector<std::string_view> blocking = {};
  std::vector<std::string_view> nonblocking = {};
  /// The names of the function that makes a persistent request, in MPI 4 and in Open MPI 4.1.
  std::vector<std::string_view> persistent = {};
  void (*perform)(Invocation& invocation) = nullptr;
  /// Whether it describes its blocks as Site::layout says.
  bool has_layouts = false;
  /// Whether it combines elements. A library then has code for each name of a type.
  bool reduces = false;
  /// Says why the library must not get this call as a nonblocking or persistent one, although it
  /// should take it. Empty if it may. May be null.
  std::string_view (*why_only_blocking)(const spec::Call& call, bool in_place) = nullptr;
  Tuning tuning = {};
  /// What performs it besides the functions above. An operation that is more than one MPI call has
  /// only these, and the plain one comes first.
  std::vector<Composition> compositions = {};

  [[nodiscard]] bool is_composed() const { return blocking.empty(); }
};

struct NamedOperation {
  std::string_view name;
  Operation operation;
};

/// All operations that MPI has, sorted by name. Generated from the files gpu/collectives/*/mpi.cpp.
[[nodiscard]] const std::vector<NamedOperation>& operations();

}  // namespace rankcheck::gpu::mpi
