#!/bin/sh
# Becomes a host of its own with systemd as process 1: an overlay of this machine's files, new namespaces and cgroups, nothing of this machine writable.
# systemd-host.sh WORK HIDDEN...: WORK is an empty folder, HIDDEN what the host must not see. Run by systemd-host.ts inside new cgroups.
set -eu

if [ "$1" != inside ]; then
  exec unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child -- /bin/sh "$0" inside "$@"
fi
work=$2
shift 2

mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$work"
mkdir "$work/upper" "$work/work" "$work/root"
mount -t overlay -o "lowerdir=/,upperdir=$work/upper,workdir=$work/work" overlay "$work/root"
cd "$work/root"

mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 sys/fs/cgroup
else
  mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
  for controller in systemd memory devices pids cpu cpuacct blkio cpuset freezer; do
    mkdir "sys/fs/cgroup/$controller"
    if [ "$controller" = systemd ]; then option=none,name=systemd; else option=$controller; fi
    mount -t cgroup -o "$option" cgroup "sys/fs/cgroup/$controller"
  done
  mkdir sys/fs/cgroup/unified
  mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
fi

mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty kmsg; do
  : >"dev/$device"
  mount --bind "/dev/$device" "dev/$device"
done
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
ln -s /proc/self/fd dev/fd
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=1777 tmpfs tmp
# What lies in /tmp is hidden already.
for hidden in "$@"; do if [ -d ".$hidden" ]; then mount -t tmpfs -o mode=755 tmpfs ".$hidden"; fi; done

# An agent that was run on this machine has left a history, and perhaps its files.
rm -rf var/lib/warpwatch etc/warpwatch opt/warpwatch usr/local/bin/warpwatch
# What this machine starts, mounts or forbids is none of this host's concern.
rm -rf etc/systemd/system/*.wants etc/systemd/system/*.requires usr/sbin/policy-rc.d etc/modules-load.d/*
# After each package with a manual page an index of all of them would be made: some seconds of CPU time.
rm -f var/lib/man-db/auto-update
: >etc/fstab
: >etc/crypttab
: >etc/machine-id
echo systemd-host >etc/hostname

# Not chroot: whoever enters one of its mount namespaces must not find this machine's root there.
mkdir .this-machine
pivot_root . .this-machine
cd /
umount -l /.this-machine
rmdir /.this-machine

# Without the rights that reach beyond namespaces: modules of the kernel, its clock, its end.
exec env -i container=test PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  setpriv --bounding-set=-sys_module,-sys_time,-sys_boot /lib/systemd/systemd --log-target=null --unit=basic.target
