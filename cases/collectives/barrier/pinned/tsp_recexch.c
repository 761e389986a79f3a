// Shows without rankcheck that MPI_Ibarrier by tsp_recexch lets ranks leave before all have entered,
// with MPICH 4.3.2 and 5.0.2, if their number is not a power of two:
//   mpicc tsp_recexch.c
//   export MPIR_CVAR_IBARRIER_DEVICE_COLLECTIVE=0 MPIR_CVAR_IBARRIER_INTRA_ALGORITHM=tsp_recexch
//   mpiexec -n 5 ./a.out
// It is an error if the program prints a line. On few cores it takes a minute, unless
// MPIR_CVAR_DEFAULT_THREAD_LEVEL is MPI_THREAD_MULTIPLE and MPIR_CVAR_ENABLE_HEAVY_YIELD is 1.
#include <mpi.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, unit;
  MPI_Aint size;
  MPI_Win window;
  _Atomic int* entered;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &entered, &window);
  MPI_Win_shared_query(window, 0, &size, &unit, &entered);
  atomic_store(&entered[rank], 0);
  MPI_Barrier(MPI_COMM_WORLD);
  srand(rank);
  for (int round = 1; round <= 3000; ++round) {
    MPI_Request request;
    if (rand() % 50 == 0) usleep(rand() % 300);
    atomic_store(&entered[rank], round);
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int r = 0; r < ranks; ++r) {
      if (atomic_load(&entered[r]) < round)
        printf("round %d: rank %d left before rank %d entered\n", round, rank, r);
    }
  }
  MPI_Win_free(&window);
  MPI_Finalize();
}
