// Shows without rankcheck that han of Open MPI 4.1.4 takes wrong elements in MPI_Scatter if the
// sender's type has another extent than the receiver's. MPI_Gather and MPI_Allgather do the same.
// This machine gets two names, A and B (users that are not root need "unshare --map-root-user
// --uts"):
//   echo 'exec unshare --uts sh -c "hostname \$0; eval \"\$*\"" "$@"' > agent.sh
//   export OMPI_MCA_plm_rsh_agent="sh $PWD/agent.sh" OMPI_MCA_btl=self,vader,tcp
//   export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo
//   mpicc han_strided.c
//   mpirun -mca coll_han_priority 100 -host A:2,B:2 ./a.out
// A correct library prints "passed".
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int send[8] = {1, -1, 2, -1, 3, -1, 4, -1}, recv = 0, rank, wrong, all = 0;
  MPI_Datatype apart;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &apart);
  MPI_Type_commit(&apart);
  MPI_Scatter(send, 1, apart, &recv, 1, MPI_INT, 0, MPI_COMM_WORLD);
  wrong = recv != rank + 1;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf(all == 0 ? "passed\n" : "%d elements are wrong\n", all);
  MPI_Finalize();
}
