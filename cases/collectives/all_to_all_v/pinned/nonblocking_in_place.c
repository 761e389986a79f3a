/* mpicc nonblocking_in_place.c && mpirun -n 2 ./a.out
 *
 * In Open MPI 4.1.4, the second call never ends. In MPI_Ialltoallv in place, a rank without elements
 * returns before it has counted the call. So the ranks number the next nonblocking call on this
 * communicator differently. A correct library prints "rank 0: 2 of 2" and "rank 1: 2 of 2". */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, sum = 0, one = 1, value = 7;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  /* Rank 0 has one element for itself, and rank 1 has none. */
  const int counts[2] = {rank == 0 ? 1 : 0, 0}, places[2] = {0, 1};
  MPI_Ialltoallv(MPI_IN_PLACE, counts, places, MPI_INT,
                 &value, counts, places, MPI_INT, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d: %d of 2\n", rank, sum);
  MPI_Finalize();
  return 0;
}
