#!/bin/sh
# Usage: make.sh BUILD FOLDER, with absolute paths
# Packs the programs of BUILD into an archive in FOLDER, unpacks it in FOLDER/unpacked and checks
# that it can run on other machines. Prints the path of the archive, its size and the oldest glibc
# that it runs with. If something is wrong, prints what it is and exits with status 1.
set -eu
build=$1
folder=$2
sources=$(cd -- "$(dirname -- "$0")/../.." && pwd -P)

wrong() { printf 'bundle: %s\n' "$*" >&2; exit 1; }

(cd "$build" && cpack -B "$folder") >&2 || wrong 'packing failed'
name=$(sed -n 's/^set(CPACK_PACKAGE_FILE_NAME "\(.*\)")/\1/p' "$build/CPackConfig.cmake")
archive=$folder/$name.tar.xz
size=$(wc -c <"$archive")
[ "$size" -le $((30 << 20)) ] || wrong "$archive: expected at most 30 MiB, found $size bytes"

rm -rf "$folder/unpacked"
mkdir "$folder/unpacked"
(cd "$folder/unpacked" && cmake -E tar xf "$archive")
root=$folder/unpacked/$name
[ -x "$root/rankcheck" ] || wrong "$root/rankcheck: expected a program"

# The bundle must not contain libraries of glibc or the driver, nor libraries that the programs load
# on request.
for file in "$root"/lib/*; do
  case ${file##*/} in
    libc.so* | libm.so* | ld-* | libcuda.* | libcufft* | libnccl* | libmpi*)
      wrong "$file: expected no such library" ;;
  esac
done

glibc=0
for file in "$root"/rankcheck* "$root"/lib/*; do
  dynamic=$(readelf -dW "$file") || wrong "$file: expected a program or a library"
  case $dynamic in
    *RUNPATH*) wrong "$file: expected DT_RPATH, found DT_RUNPATH" ;;
  esac
  rpath=$(printf '%s' "$dynamic" | sed -n 's/.*(RPATH).*\[\(.*\)\]/\1/p')
  case $file:$rpath in
    "$root"/rankcheck*:'$ORIGIN/lib' | "$root"/lib/*:'$ORIGIN') ;;
    *) wrong "$file: DT_RPATH: expected \$ORIGIN/lib of a program, \$ORIGIN of a library, found" \
      "'$rpath'" ;;
  esac
  for library in $(printf '%s' "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
    case $library in
      ld-linux-* | libc.so.6 | libm.so.6 | libpthread.so.0 | libdl.so.2 | librt.so.1) ;;
      libresolv.so.2 | libmvec.so.1 | libutil.so.1 | libanl.so.1 | libnsl.so.1) ;;
      *) [ -e "$root/lib/$library" ] || wrong "$file: needs $library, which is not in lib/" ;;
    esac
  done
  needs=$(objdump -p "$file" | sed -n 's/.* GLIBC_\([0-9.]*\)$/\1/p')
  glibc=$(printf '%s\n' "$glibc" $needs | sort -V | tail -n 1)
done
# Looks for paths of the machine that built the programs. The pattern matches only where a path can
# begin.
for folder_here in "$sources" "$build"; do
  pattern=$(printf '%s' "$folder_here" | sed 's/[][\.*^$/+?(){}|]/\\&/g')
  if grep -raoE "(^|[^A-Za-z0-9_./-])$pattern/[^ ]*" "$root" >&2; then
    wrong "$root: expected no path of the machine that built it"
  fi
done

find "$root/share" -name '*.md' | while read -r page; do
  grep -oE '\]\([^)#]+' "$page" | cut -c3- | grep -v '^https\?:' | while read -r link; do
    [ -e "${page%/*}/$link" ] || wrong "$page: $link: expected a file of the bundle"
  done
done

# Debian 12 is the oldest system that the programs must run on.
# shellcheck source=/dev/null
[ ! -e /etc/os-release ] || . /etc/os-release
if [ "${ID-}${VERSION_ID-}" = debian12 ]; then
  [ "$(printf '%s\n' "$glibc" 2.36 | sort -V | tail -n 1)" = 2.36 ] ||
    wrong "expected programs for glibc 2.36, found that they need $glibc"
fi

printf '%s\n%s MiB, for glibc %s or newer\n' "$archive" "$(((size + 524288) >> 20))" "$glibc"
