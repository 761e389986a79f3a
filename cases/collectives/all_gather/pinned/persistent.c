// Shows without rankcheck that MPICH 4.0.2 sends old data when a persistent all_gather is started
// again: mpicc persistent.c && mpiexec -n 2 ./a.out. It is an error if the program prints a line.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, in, out[2];
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allgather_init(&in, 1, MPI_INT, out, 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int call = 0; call < 2; ++call) {
    in = 10 * call + rank;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (out[1] != 10 * call + 1) printf("rank %d got %d of rank 1 in call %d\n", rank, out[1], call);
  }
  MPI_Request_free(&request);
  MPI_Finalize();
}
