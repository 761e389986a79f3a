#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "gpu/device/mpi/invocation.hpp"
#include "gpu/device/mpi/operation.hpp"

/// Operations along an axis, made of MPI's calls. The array of rank q has the shape (outer,
/// counts[q], inner).
namespace rankcheck::gpu::mpi {

/// A gather of arrays from all ranks, in the arguments of MPI.
struct Gathering {
  const void* send = nullptr;
  int send_count = 0;
  MPI_Datatype send_type = MPI_DATATYPE_NULL;
  void* recv = nullptr;
  /// One for each rank; in elements of recv_type.
  const std::vector<int>& counts;
  const std::vector<int>& displacements;
  MPI_Datatype recv_type = MPI_DATATYPE_NULL;
};

/// MPI's call that gathers.
struct GatherCall {
  std::string_view name;
  int (*call)(const Invocation& run, const Gathering& gathering) = nullptr;
};

/// Gathers with derived types, so that MPI itself puts all elements to their places. Both functions
/// throw Error.
void gather_by_datatypes(const Invocation& run, const GatherCall& call);
/// Gathers whole arrays into memory of its own, and copies their strips.
void gather_packed(const Invocation& run, const GatherCall& call);

/// The compositions `datatypes` and `packed`.
template <const GatherCall& call>
std::vector<Composition> compositions_of_axis() {
  return {
      {.name = "datatypes",
       .summary = "The MPI function gets derived types, whose elements are an array's columns.",
       .functions = {call.name},
       .perform = [](Invocation& run) { gather_by_datatypes(run, call); }},
      {.name = "packed",
       .summary = "The MPI function gathers whole arrays, and their strips are copied afterwards.",
       .functions = {call.name},
       .perform = [](Invocation& run) { gather_packed(run, call); }},
  };
}

}  // namespace rankcheck::gpu::mpi
