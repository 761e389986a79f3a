/* mpicc typed_nonblocking_in_place.c && mpirun -n 2 ./a.out
 *
 * In Open MPI 4.1.4 and 5.0.11, the second call never ends, or gives rank 1 the value 0. In
 * MPI_Ialltoallw in place, a rank without elements returns before it has counted the call. So the
 * ranks number the next nonblocking call on this communicator differently. A correct library prints
 * "rank 0: 7" and "rank 1: 7". */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, own = 1, value = 0;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) value = 7;
  /* Rank 0 has one element for itself, and rank 1 has none. */
  const int counts[2] = {rank == 0 ? 1 : 0, 0}, places[2] = {0, 0};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Ialltoallw(MPI_IN_PLACE, counts, places, types,
                 &own, counts, places, types, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ibcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf("rank %d: %d\n", rank, value);
  MPI_Finalize();
  return 0;
}
