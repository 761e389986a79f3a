// Shows without rankcheck that MPI_Iallgather of MPICH 4.0.2 to 5.0.2 by tsp_recexch gives wrong
// data if the elements of the receiver's type lie apart. So does MPI_Iallgatherv. Two processes:
//   mpicc tsp_recexch_strided.c
//   MPIR_CVAR_IALLGATHER_INTRA_ALGORITHM=tsp_recexch_doubling mpiexec -n 2 ./a.out
// A correct library prints "passed".
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, send[2], recv[8] = {0};
  MPI_Datatype apart;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  send[0] = 10 * rank + 1;
  send[1] = 10 * rank + 2;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  MPI_Iallgather(send, 2, MPI_INT, recv, 2, apart, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  const int is_right = recv[0] == 1 && recv[2] == 2 && recv[4] == 11 && recv[6] == 12;
  const char* const said = is_right ? "passed" : "expected 1 2 11 12, got";
  if (rank == 0) printf("%s: %d %d %d %d\n", said, recv[0], recv[2], recv[4], recv[6]);
  MPI_Finalize();
}
