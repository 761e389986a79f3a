#!/bin/sh
# prepare.sh BUILD FOLDER [NCCL]: makes the bundle of a build, and FOLDER/root. The root folder
# holds only the bundle, glibc and a shell. Its /proc is empty, and its /dev/null is a plain file.
# NCCL is a stand-in for the NCCL library. If it is given, FOLDER/root/stand-in holds it, the
# bundle's programs, and the stand-in for the CUDA worker.
set -eu
build=$1
folder=$2
nccl=${3-}
root=$folder/root

mkdir -p "$folder"
sh "$(dirname -- "$0")/../../cases/bundle/make.sh" "$build" "$folder"

rm -rf "$root"
mkdir -p "$root/bin" "$root/dev" "$root/proc" "$root/tmp" "$root/a folder"
chmod 1777 "$root/tmp"
: >"$root/dev/null"
chmod 666 "$root/dev/null"
cp -L /bin/sh "$root/bin/sh"
ldd /bin/sh | grep -o '/[^ ]*' | while read -r library; do
  mkdir -p "$root${library%/*}"
  cp -L "$library" "$root$library"
  case $library in
    */libc.so.6)
      for name in libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 libresolv.so.2; do
        cp -L "${library%/*}/$name" "$root${library%/*}/$name"
      done ;;
  esac
done
mv "$folder/unpacked"/* "$root/a folder"
[ -n "$nccl" ] || exit 0
mkdir "$root/stand-in"
cp -r "$root/a folder"/rankcheck-*/rankcheck* "$root/a folder"/rankcheck-*/share "$root/stand-in"
cp "$build/rankcheck-clocked" "$root/stand-in/rankcheck"
# A probe takes four seconds, and nothing else takes much time.
mkdir "$root/stand-in/devices"
cp "$build/stand-in/rankcheck-worker-cuda" "$build/stand-in"/libcufft.so.* "$root/stand-in/devices"
cat >"$root/stand-in/rankcheck-worker-cuda" <<'EOF'
#!/bin/sh
[ "$1" != --probe ] || printf . >>ticks
exec /stand-in/devices/rankcheck-worker-cuda "$@"
EOF
chmod +x "$root/stand-in/rankcheck-worker-cuda"
cp "$nccl" "$root/stand-in/nccl.so"
cp "$(dirname -- "$0")/gate.sh" "$root/stand-in"
