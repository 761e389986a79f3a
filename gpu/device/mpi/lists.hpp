#pragma once

#include <string_view>
#include <vector>

#include <mpi.h>

#include "gpu/device/mpi/invocation.hpp"
#include "gpu/device/mpi/operation.hpp"

/// Operations on lists of arrays, made of MPI's calls for one array.
namespace rankcheck::gpu::mpi {

/// The elements of one array, or of a pack, on one rank.
struct ArraySite {
  /// The input: the address of the first element, or MPI_IN_PLACE. Unused by a broadcast.
  void* in = nullptr;
  void* out = nullptr;
  int count = 0;
  /// MPI_OP_NULL if the operation does not reduce.
  MPI_Op op = MPI_OP_NULL;
};

/// MPI's calls for one array.
struct ArrayCalls {
  std::string_view blocking_name;
  std::string_view nonblocking_name;
  int (*blocking)(const Invocation& run, const ArraySite& array) = nullptr;
  int (*nonblocking)(const Invocation& run, const ArraySite& array, MPI_Request* request) = nullptr;
};

/// Makes a blocking call for each array. All functions throw Error.
void call_one_by_one(Invocation& run, const ArrayCalls& calls);
/// Copies the arrays into packs of Site::chunk elements, or into one, and makes a blocking call for
/// each pack.
void call_packed(Invocation& run, const ArrayCalls& calls);
/// Starts the calls of all arrays, with work of the program's own in between, and waits for all of
/// them at the end.
void call_at_once(Invocation& run, const ArrayCalls& calls);

/// The compositions one_by_one, packed and nonblocking.
template <const ArrayCalls& calls>
std::vector<Composition> compositions_of_list() {
  return {
      {.name = "one_by_one",
       .summary = "The blocking MPI function is called for one array after another.",
       .functions = {calls.blocking_name},
       .perform = [](Invocation& run) { call_one_by_one(run, calls); }},
      {.name = "packed",
       .summary = "The arrays are copied into packs, and the blocking MPI function is called for "
                  "each pack.",
       .functions = {calls.blocking_name},
       .perform = [](Invocation& run) { call_packed(run, calls); },
       .in_chunks = true},
      {.name = "nonblocking",
       .summary =
           "The MPI_I… function is called for every array, with work in between, then MPI_Waitall.",
       .functions = {calls.nonblocking_name, "MPI_Waitall"},
       .perform = [](Invocation& run) { call_at_once(run, calls); },
       .nonblocking = true},
  };
}

}  // namespace rankcheck::gpu::mpi
