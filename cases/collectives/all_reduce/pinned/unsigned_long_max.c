// Shows without rankcheck that Open MPI 4.1.4 compares MPI_UNSIGNED_LONG as if it were signed, but
// not MPI_UINT64_T: mpicc unsigned_long_max.c && mpirun -n 2 ./a.out
// A correct library prints "9223372036854775808 and 1" twice.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const MPI_Datatype types[2] = {MPI_UINT64_T, MPI_UNSIGNED_LONG};
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = 0; k < 2; ++k) {
    unsigned long own = rank == 0 ? 1UL << 63 : 1, largest = 0, least = 0;
    MPI_Allreduce(&own, &largest, 1, types[k], MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&own, &least, 1, types[k], MPI_MIN, MPI_COMM_WORLD);
    if (rank == 0) printf("%lu and %lu\n", largest, least);
  }
  MPI_Finalize();
}
