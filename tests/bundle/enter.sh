#!/bin/sh
# enter.sh ROOT NAME COMMAND [proc]: runs a shell command with ROOT as its root folder, in the new
# folder /tmp/NAME, with or without /proc. The variable `bundle` holds the bundle's path. The
# command runs as the user nobody if this user may change to nobody. If this machine does not allow
# another root folder, prints that the test is skipped.
set -eu
root=$1
name=$2
command=$3
proc=${4-}

bundle=$(cd "$root" && echo 'a folder'/rankcheck-*)
rm -rf "${root:?}/tmp/$name"
mkdir "$root/tmp/$name"
chmod 777 "$root/tmp/$name"

# The arguments are a command that changes the root folder.
try() {
  "$@" "$root" /bin/sh -c : 2>/dev/null || return 0
  # Without /proc, glibc's loader knows a program's folder only from LD_ORIGIN_PATH.
  [ -n "$proc" ] || set -- LD_ORIGIN_PATH="/$bundle" "$@"
  exec env -i "$@" "$root" /bin/sh -c "cd '/tmp/$name' && bundle='/$bundle' && $command"
}
if [ -n "$proc" ]; then
  with_proc='mount --rbind /proc "$1/proc" && PATH=/usr/sbin:/usr/bin && exec chroot'
  try unshare -m /bin/sh -c "$with_proc --userspec=65534:65534 \"\$@\"" enter
  try unshare -rm /bin/sh -c "$with_proc \"\$@\"" enter
else
  try /usr/sbin/chroot --userspec=65534:65534
  try unshare -r /usr/sbin/chroot
fi
echo "skipped: this machine lets this user change no root folder${proc:+ that has /proc}"
