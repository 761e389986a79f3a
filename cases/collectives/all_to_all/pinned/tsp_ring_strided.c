// Shows without rankcheck that MPI_Ialltoall of MPICH 4.0.2 to 5.0.2 by tsp_ring gives wrong data
// if the elements of the receiver's type lie apart. Two processes:
//   mpicc tsp_ring_strided.c
//   MPIR_CVAR_IALLTOALL_INTRA_ALGORITHM=tsp_ring mpiexec -n 2 ./a.out
// A correct library prints "passed".
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, send[2], recv[4] = {0};
  MPI_Datatype apart;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  send[0] = 10 * rank + 1;
  send[1] = 10 * rank + 2;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  MPI_Ialltoall(send, 1, MPI_INT, recv, 1, apart, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const char* const said = recv[0] == 2 && recv[2] == 12 ? "passed" : "expected 2 12, got";
  if (rank == 1) printf("%s: %d %d\n", said, recv[0], recv[2]);
  MPI_Finalize();
}
