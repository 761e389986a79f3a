// Shows without rankcheck that the algorithm tsp_brucks of MPICH 4.0.2 to 5.0.2 ignores
// displacements: mpicc tsp_brucks_gap.c && mpiexec -n 2 ./a.out. It is an error if the program
// prints a line.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  setenv("MPIR_CVAR_IALLGATHERV_INTRA_ALGORITHM", "tsp_brucks", 1);
  setenv("MPIR_CVAR_IALLGATHERV_DEVICE_COLLECTIVE", "0", 1);
  MPI_Init(&argc, &argv);
  int rank, out[3] = {-1, -1, -1};
  const int counts[2] = {1, 1}, displacements[2] = {0, 2};
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Iallgatherv(
      &rank, 1, MPI_INT, out, counts, displacements, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (out[1] != -1 || out[2] != 1) {
    printf("rank %d: expected 0 -1 1, got %d %d %d\n", rank, out[0], out[1], out[2]);
  }
  MPI_Finalize();
}
