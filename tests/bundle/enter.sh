#!/bin/sh
# enter.sh ROOT NAME COMMAND [proc]: runs a shell command with ROOT as the root folder, in the new
# folder /tmp/NAME, with or without /proc. The variable `bundle` has the path of the bundle. The
# user is nobody where this user may become nobody. Prints that it is skipped where this machine
# lets nobody do that.
set -eu
root=$1
name=$2
command=$3
proc=${4-}

bundle=$(cd "$root" && echo 'a folder'/rankcheck-*)
rm -rf "${root:?}/tmp/$name"
mkdir "$root/tmp/$name"
chmod 777 "$root/tmp/$name"

# Arguments: how to change the root folder.
try() {
  "$@" "$root" /bin/sh -c : 2>/dev/null || return 0
  # Without /proc, glibc's loader knows a program's folder from LD_ORIGIN_PATH alone.
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
