// Shows without rankcheck that 100 + 100 has two values in one call of Open MPI 4.1.4, on a
// processor with AVX: mpicc int8_sum.c && mpirun -n 2 ./a.out
// It prints "127 and -56". MPI leaves overflow undefined, so this is no defect.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  signed char own[17], sums[17];
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 17; ++i) own[i] = 100;
  MPI_Allreduce(own, sums, 17, MPI_INT8_T, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d and %d\n", sums[0], sums[16]);
  MPI_Finalize();
}
