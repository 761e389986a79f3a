// Shows without rankcheck that MPI_Ialltoallw of MPICH 4.0.2 in place leaves the data of a rank as
// they were if types are vectors. Two processes:
//   mpicc typed_in_place.c
//   mpiexec -n 2 ./a.out
// A correct library prints "passed" on both ranks.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, other, data, counts[2], places[2] = {0, 0};
  MPI_Datatype types[2];
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  other = 1 - rank;
  data = rank;
  counts[rank] = 0;
  counts[other] = 1;
  MPI_Type_vector(0, 1, 1, MPI_INT, &types[rank]);
  MPI_Type_vector(1, 1, 1, MPI_INT, &types[other]);
  MPI_Type_commit(&types[0]);
  MPI_Type_commit(&types[1]);
  MPI_Ialltoallw(MPI_IN_PLACE, counts, places, types, &data, counts, places, types, MPI_COMM_WORLD,
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  printf(data == other ? "passed\n" : "rank %d has %d, expected %d\n", rank, data, other);
  MPI_Finalize();
}
