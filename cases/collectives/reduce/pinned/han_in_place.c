// Shows without rankcheck that han of Open MPI 4.1.4 ends ranks in MPI_Reduce and in MPI_Allreduce
// if the call is in place and has more than one segment of 64 KiB. This
// machine gets two names, A and B (users that are not root need "unshare --map-root-user --uts"):
//   echo 'exec unshare --uts sh -c "hostname \$0; eval \"\$*\"" "$@"' > agent.sh
//   export OMPI_MCA_plm_rsh_agent="sh $PWD/agent.sh" OMPI_MCA_btl=self,vader,tcp
//   export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
//   mpicc han_in_place.c
//   mpirun -mca coll_han_priority 100 -host A:2,B:2 ./a.out reduce
//   mpirun -mca coll_han_priority 100 -host A:2,B:2 ./a.out all_reduce
// A correct library prints "passed" in both. han moves the pointer of the data to send forward by a
// segment, also if it is MPI_IN_PLACE.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define COUNT 65537

int main(int argc, char** argv) {
  static char data[COUNT], sums[COUNT];
  int rank, ranks, wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  memset(data, 1, COUNT);
  memset(sums, 1, COUNT);
  if (argc > 1 && strcmp(argv[1], "all_reduce") == 0) {
    MPI_Allreduce(MPI_IN_PLACE, sums, COUNT, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
  } else {
    MPI_Reduce(rank == 0 ? MPI_IN_PLACE : data, sums, COUNT, MPI_CHAR, MPI_SUM, 0, MPI_COMM_WORLD);
  }
  for (int i = 0; i < COUNT; ++i) wrong += sums[i] != ranks;
  if (rank == 0) printf(wrong == 0 ? "passed\n" : "%d elements are wrong\n", wrong);
  MPI_Finalize();
}
