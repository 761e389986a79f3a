// Shows without rankcheck that an algorithm of MPICH 4.0.2 to 5.0.2 broadcasts wrong data from
// other roots than 0: mpicc tsp_scatterv_other_root.c && mpiexec -n 2 ./a.out. It is an error if
// the program prints a line.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  setenv("MPIR_CVAR_IBCAST_INTRA_ALGORITHM", "tsp_scatterv_recexch_allgatherv", 1);
  setenv("MPIR_CVAR_IBCAST_DEVICE_COLLECTIVE", "0", 1);
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char value = rank == 1 ? 7 : 0;
  MPI_Ibcast(&value, 1, MPI_CHAR, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (value != 7) printf("rank %d: expected 7, got %d\n", rank, value);
  MPI_Finalize();
}
