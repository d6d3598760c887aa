#!/bin/sh
# Becomes a bare Debian host, in memory, with the network of this machine: bare-debian.sh ARCHIVE WORK NPM_CACHE. ARCHIVE is a root file system; the folder
# WORK holds the repository to clone (origin.git). Run by bare-debian.ts. Everything ends with this process.
set -eu

if [ "$1" != inside ]; then
  exec unshare --mount --pid --fork --uts --ipc --kill-child -- /bin/sh "$0" inside "$@"
fi
archive=$2 work=$3 npm_cache=$4

mount --make-rprivate /
mkdir "$work/root"
mount -t tmpfs -o mode=755 tmpfs "$work/root"
cd "$work/root"
# The devices of this machine are mounted below.
tar --extract --file "$archive" --exclude './dev/*'
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
# No device of a GPU is here, whatever this machine has.
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  : >"dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 tmpfs tmp
mount -t tmpfs -o mode=755 tmpfs run
mkdir -p home/user/.npm .this-machine
chown -R 1000:1000 home/user
mount --bind "$npm_cache" home/user/.npm
mount --bind "$work/origin.git" srv
# How this machine reaches the network, and whose certificates it believes.
for file in etc/resolv.conf etc/hosts etc/ssl/certs/ca-certificates.crt; do if [ -e "/$file" ]; then : >>"$file" && mount --bind "/$file" "$file"; fi; done

pivot_root . .this-machine
cd /
umount -l /.this-machine
rmdir /.this-machine
# Where commands begin that enter here.
cd /home/user
exec sleep infinity
