// Shows without rankcheck that MPI_Reduce of MPICH 4.0.2 ends the root if the call is in place, the
// root is not rank 0, and there are more than 2 KiB: mpicc in_place_other_root.c && mpiexec -n 2 ./a.out
// A correct library prints "passed".
#include <mpi.h>
#include <stdio.h>

#define COUNT 513

int main(int argc, char** argv) {
  static int data[COUNT], sums[COUNT];
  int rank, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < COUNT; ++i) data[i] = sums[i] = 1;
  MPI_Reduce(rank == 1 ? MPI_IN_PLACE : data, sums, COUNT, MPI_INT, MPI_SUM, 1, MPI_COMM_WORLD);
  for (int i = 0; i < COUNT; ++i) wrong += sums[i] != 2;
  if (rank == 1) printf(wrong == 0 ? "passed\n" : "%d elements are wrong\n", wrong);
  MPI_Finalize();
}
