#!/bin/sh
# checks.sh CXX FOLDER: runs cases/bundle/make.sh on small bundles, each with one fault, and expects
# it to name the fault. A script in place of cpack packs the folder of such a bundle.
set -eu
cxx=$1
folder=$2
bundle=$(cd -- "$(dirname -- "$0")/../../cases/bundle" && pwd)

rm -rf "$folder"
mkdir -p "$folder/build" "$folder/tools" "$folder/out" "$folder/sources/cases/bundle"
cd "$folder"
# make.sh takes the folder that it lies in for that of the sources.
make=$folder/sources/cases/bundle/make.sh
cp "$bundle/make.sh" "$make"
name=rankcheck-small
echo "set(CPACK_PACKAGE_FILE_NAME \"$name\")" >build/CPackConfig.cmake
# Its arguments are -B and a folder. What is not compressed is packed in no time.
cat >tools/cpack <<EOF
#!/bin/sh
cd '$folder' && tar cf "\$2/$name.tar.xz" $name
EOF
chmod +x tools/cpack
PATH=$folder/tools:$PATH

echo 'int used() { return 0; }' >used.cpp
echo 'int used(); int main() { return used(); }' >program.cpp
# Neither needs libstdc++.
flags=-Wl,--as-needed,--disable-new-dtags
"$cxx" -shared -fPIC used.cpp -o libused.so $flags -Wl,-rpath,'$ORIGIN'
"$cxx" program.cpp libused.so -o program $flags -Wl,-rpath,'$ORIGIN/lib'

# A bundle without a fault.
begin() {
  rm -rf "$name"
  mkdir -p "$name/lib" "$name/share/rankcheck"
  cp program "$name/rankcheck"
  cp libused.so "$name/lib"
  echo '[a page](README.md) and [another](https://example.org/)' >"$name/share/rankcheck/README.md"
}

expect_refused() {
  if sh "$make" "$folder/build" "$folder/out" >said 2>&1; then
    echo "expected to be refused for '$1', got:"
    cat said
    exit 1
  fi
  grep -qF -- "$1" said || { echo "expected '$1', got:"; cat said; exit 1; }
  echo "refused: $1"
  begin
}

begin
sh "$make" "$folder/build" "$folder/out" >said
grep -qx "$folder/out/$name.tar.xz" said
grep -qE '^[0-9]+ MiB, for glibc 2\.[0-9]+ or newer$' said

rm "$name/rankcheck"
expect_refused 'rankcheck: expected a program'
head -c 31457281 /dev/zero >"$name/share/rankcheck/zeros"
expect_refused 'expected at most 30 MiB, found '
for library in libc.so.6 libm.so.6 ld-linux-x86-64.so.2 libcuda.so.1 libcufft.so.12 libnccl.so.2 \
  libmpi.so.40; do
  cp libused.so "$name/lib/$library"
  expect_refused "lib/$library: expected no such library"
done
echo text >"$name/lib/notes"
expect_refused 'lib/notes: expected a program or a library'
patchelf --set-rpath '$ORIGIN/lib' "$name/rankcheck"
expect_refused 'rankcheck: expected DT_RPATH, found DT_RUNPATH'
patchelf --force-rpath --set-rpath /usr/lib "$name/rankcheck"
expect_refused "of a library, found '/usr/lib'"
patchelf --remove-rpath "$name/lib/libused.so"
expect_refused "of a library, found ''"
patchelf --force-rpath --set-rpath '$ORIGIN/lib' "$name/lib/libused.so"
expect_refused "of a library, found '\$ORIGIN/lib'"
rm "$name/lib/libused.so"
expect_refused 'rankcheck: needs libused.so, which is not in lib/'
echo "compiled in $folder/build/here" >"$name/share/rankcheck/notes"
expect_refused 'expected no path of the machine that built it'
echo "compiled from $folder/sources/cases/main.cpp" >"$name/share/rankcheck/notes"
expect_refused 'expected no path of the machine that built it'
echo '[a page](absent.md)' >"$name/share/rankcheck/README.md"
expect_refused 'README.md: absent.md: expected a file of the bundle'

# Debian 12 makes programs for its own glibc.
if grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
  echo 'GLIBC_2.37 { global: later; };' >versions
  echo 'extern "C" int later() { return 0; }' >later.cpp
  echo 'extern "C" int later(); int main() { return later(); }' >main.cpp
  "$cxx" -shared -fPIC -nostdlib later.cpp -o libc.so.6 -Wl,-soname,libc.so.6 \
    -Wl,--version-script=versions
  "$cxx" -nostdlib -nostartfiles main.cpp "$folder/libc.so.6" -o "$name/rankcheck" \
    -Wl,-e,main $flags -Wl,-rpath,'$ORIGIN/lib'
  expect_refused 'expected programs for glibc 2.36, found that they need 2.37'
fi
