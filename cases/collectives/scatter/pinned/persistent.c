// Shows without rankcheck that MPICH 4.0.2 sends old data when a persistent scatter is started
// again: mpicc persistent.c && mpiexec -n 2 ./a.out. It is an error if the program prints a line.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, in[2], out;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Scatter_init(in, 1, MPI_INT, &out, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int call = 0; call < 2; ++call) {
    in[0] = 10 * call;
    in[1] = 10 * call + 1;
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (out != 10 * call + rank) printf("rank %d got %d in call %d\n", rank, out, call);
  }
  MPI_Request_free(&request);
  MPI_Finalize();
}
