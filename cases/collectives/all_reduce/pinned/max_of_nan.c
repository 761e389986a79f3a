// Shows without rankcheck that MPI_MAX of a NaN and a number leaves different results on the ranks
// with MPICH 4.0.2, 4.3.2 and 5.0.2: mpicc max_of_nan.c -lm && mpiexec -n 2 ./a.out. MPI 4.1 (6.9.6)
// requires identical results. A correct library prints the same value twice.
#include <math.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  float in = rank == 0 ? NAN : 1, out, all[2];
  MPI_Allreduce(&in, &out, 1, MPI_FLOAT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Gather(&out, 1, MPI_FLOAT, all, 1, MPI_FLOAT, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%g and %g\n", all[0], all[1]);
  MPI_Finalize();
}
