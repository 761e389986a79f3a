// Shows without rankcheck that MPI_Allgather of Intel MPI 2021.18.1 loses elements if the sender
// describes a block as one vector and the receiver as single elements:
//   mpicc two_types.c && mpiexec -n 3 ./a.out
// It is an error if the program prints a line.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks;
  double in[5], out[100] = {0};
  MPI_Datatype block;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_vector(5, 1, 1, MPI_DOUBLE, &block);
  MPI_Type_commit(&block);
  for (int i = 0; i < 5; ++i) in[i] = 10 * rank + i;
  MPI_Allgather(in, 1, block, out, 5, MPI_DOUBLE, MPI_COMM_WORLD);
  for (int i = 0; i < 5 * ranks; ++i) {
    if (out[i] != i / 5 * 10 + i % 5) printf("rank %d: element %d is %g\n", rank, i, out[i]);
  }
  MPI_Type_free(&block);
  MPI_Finalize();
}
