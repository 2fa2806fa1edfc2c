#!/bin/sh
# Enters what a container of deploy/Dockerfile is, and runs a command there as its user: a read-only root with only /tmp and
# the volumes writable, no capability, no variable of this process, and a user id that no file of users has.
#   unshare --mount enter-image.sh ROOT CHECKOUT NODE UID:GID HIDDEN VOLUMES NAME=VALUE… COMMAND…
# HIDDEN lists folders that the image lacks; VOLUMES has lines FROM TO rw|ro.
set -eu
root=$1 checkout=$2 node=$3 user=$4 hidden=$5 volumes=$6
shift 6
readonly_bind() {
  mkdir -p "$root$2"
  mount --rbind "$1" "$root$2"
  mount -o remount,bind,ro "$root$2"
}

mount --make-rprivate /
mount -t tmpfs -o mode=755 image "$root"
for folder in /usr /bin /sbin /lib /lib64; do
  if [ -L "$folder" ]; then cp -P "$folder" "$root$folder"; elif [ -e "$folder" ]; then readonly_bind "$folder" "$folder"; fi
done
mkdir "$root/etc"
for file in passwd group nsswitch.conf hosts resolv.conf ld.so.cache localtime; do
  if [ -e "/etc/$file" ]; then cp -L "/etc/$file" "$root/etc/$file"; fi
done
for folder in /dev /proc; do
  mkdir "$root$folder"
  mount --rbind "$folder" "$root$folder"
done
mkdir -p "$root/tmp" "$root/empty" "$root/opt/node"
mount -t tmpfs -o mode=1777,size=256m tmp "$root/tmp"
touch "$root/opt/node/node"
mount --bind "$node" "$root/opt/node/node"
readonly_bind "$checkout" /app
while read -r folder; do mount --bind "$root/empty" "$root/app/$folder"; done <"$hidden"
while read -r from to mode; do
  mkdir -p "$root$to"
  mount --rbind "$from" "$root$to"
  mount -o "remount,bind,$mode" "$root$to"
done <"$volumes"
mount -o remount,ro "$root"
exec chroot "$root" /usr/bin/setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --no-new-privs \
  --bounding-set=-all --inh-caps=-all /usr/bin/env --ignore-environment --chdir=/app "$@"
