// Shows without rankcheck that MPI_Alltoall of Open MPI 4.1.4 by Bruck's algorithm writes between
// elements if the receiver's type has another extent than the sender's. Two processes:
//   mpicc bruck_strided.c
//   mpirun -n 2 -mca coll_tuned_use_dynamic_rules 1 -mca coll_tuned_alltoall_algorithm 3 ./a.out
// A correct library prints "passed".
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, send[2] = {7, 7}, recv[4] = {-1, -1, -1, -1};
  MPI_Datatype apart;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  MPI_Alltoall(send, 1, MPI_INT, recv, 1, apart, MPI_COMM_WORLD);
  const int is_right = recv[0] == 7 && recv[1] == -1 && recv[2] == 7 && recv[3] == -1;
  const char* const said = is_right ? "passed" : "wrong";
  if (rank == 0) printf("%s: %d %d %d %d\n", said, recv[0], recv[1], recv[2], recv[3]);
  MPI_Finalize();
}
