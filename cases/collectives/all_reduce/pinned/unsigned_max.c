// Shows without rankcheck that MPICH 4.0.2 compares unsigned numbers as if they were signed:
//   mpicc unsigned_max.c && mpiexec -n 2 ./a.out
// A correct library prints "unsigned char: 128 and 1" and "unsigned long: 9223372036854775808 and 1".
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank;
  unsigned char small[3] = {1}, *const s = small;
  unsigned long large[3] = {1}, *const l = large;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) small[0] = 1 << 7, large[0] = 1UL << 63;
  MPI_Allreduce(s, s + 1, 1, MPI_UNSIGNED_CHAR, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(s, s + 2, 1, MPI_UNSIGNED_CHAR, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(l, l + 1, 1, MPI_UNSIGNED_LONG, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(l, l + 2, 1, MPI_UNSIGNED_LONG, MPI_MIN, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("unsigned char: %d and %d\n", small[1], small[2]);
    printf("unsigned long: %lu and %lu\n", large[1], large[2]);
  }
  MPI_Finalize();
}
