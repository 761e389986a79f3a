#pragma once

#include <mpi.h>

#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

/// The function that makes a persistent request of a collective call: MPI 4 has it, and so has Open
/// MPI 5, which calls itself MPI 3.1. Open MPI 4.1 has it under another name. Null if the library
/// has neither.
#if MPI_VERSION >= 4 || defined(OPEN_MPI) && OMPI_MAJOR_VERSION >= 5
#define RANKCHECK_MPI_INIT(call) MPI_##call##_init
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define RANKCHECK_MPI_INIT(call) MPIX_##call##_init
#else
#define RANKCHECK_MPI_INIT(call) nullptr
#define RANKCHECK_MPI_LACKS_INIT
#endif

/// The three forms of a collective call, which are the first arguments of Invocation::issue().
#define RANKCHECK_MPI_FORMS(blocking, nonblocking) \
  MPI_##blocking, MPI_##nonblocking, RANKCHECK_MPI_INIT(blocking)

namespace rankcheck::gpu::mpi {

#ifdef RANKCHECK_MPI_LACKS_INIT
inline constexpr bool has_persistent = false;
#else
inline constexpr bool has_persistent = true;
#endif

}  // namespace rankcheck::gpu::mpi
