// Shows without rankcheck that the algorithm pairwise of MPICH 4.0.2 to 5.0.2 ends the processes if
// the call is in place: mpicc pairwise_in_place.c && mpiexec -n 2 ./a.out. It is an error if the
// program does not end with status 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  setenv("MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM", "pairwise", 1);
  setenv("MPIR_CVAR_REDUCE_SCATTER_DEVICE_COLLECTIVE", "0", 1);
  MPI_Init(&argc, &argv);
  int rank, data[3] = {1, 2, 3};
  const int counts[2] = {1, 2};
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce_scatter(MPI_IN_PLACE, data, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (data[0] != (rank == 0 ? 2 : 4)) printf("rank %d: got %d\n", rank, data[0]);
  MPI_Finalize();
}
