# Runs in the root folder that enter.sh enters. Runs the gate for hardware on stand-ins for CUDA and
# NCCL, in as many calls as needed. The first two calls end after their first probe, so there are at
# least three calls. `bundle` is the bundle's folder. /stand-in holds the programs and libraries of
# the stand-ins, and a rankcheck whose clock moves by what it does, so that the
# machine's speed decides little.
set -eu
export LD_LIBRARY_PATH="$bundle/lib"
export RANKCHECK_STAND_IN_DEVICES=1 RANKCHECK_STAND_IN_MIB=8
export RANKCHECK_TESTS_READING_S=0.02 RANKCHECK_TESTS_TICK_S=4

# Puts the output of a call into $out. Stand-ins are not hardware, so even a complete gate has the
# status 2.
call() {
  status=0
  out=$(/stand-in/rankcheck --nccl-library /stand-in/nccl.so run "$@" \
    --archive gate.zip) || status=$?
  if [ "$status" != 2 ]; then
    echo "expected status 2, found $status: $out"
    exit 1
  fi
}

call hardware --operation all_reduce --property agrees_with_reference --cases 2 \
  --report gate --time-budget 0.01
calls=1
while :; do
  case $out in
    *'ended early (time_over)'*) ;;
    *) break ;;
  esac
  [ "$calls" -lt 12 ]
  budget=100
  [ "$calls" -gt 1 ] || budget=0.01
  call --resume gate --time-budget "$budget"
  calls=$((calls + 1))
done
echo "$calls calls: $out"
[ "$calls" -ge 3 ]
for part in links cuda 'nccl 1 rank' 'nccl 4 ranks' speed suites soak; do
  case $out in
    *"| $part | passed |"*) ;;
    *) echo "expected the part $part to have passed"; exit 1 ;;
  esac
done
# NCCL is there, and nobody asks for it.
call hardware --operation all_reduce --backend cuda --report alone --time-budget 0.01
case $out in
  *'| nccl '*) echo "expected no part with NCCL: $out"; exit 1 ;;
esac

# The same file by another name is another library.
status=0
why=$(/stand-in/rankcheck --nccl-library /stand-in/../stand-in/nccl.so run --resume gate 2>&1) ||
  status=$?
case "$status $why" in
  '2 '*'backends: nccl: got '*'as when the run began'*) ;;
  *) echo "expected another NCCL to be refused, found status $status: $why"; exit 1 ;;
esac
[ -s gate/report.json ] && [ -s gate/summary.md ] && [ -s gate.zip ]
