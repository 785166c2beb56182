#!/bin/bash
# The first process of the node: it has namespaces of its own for mounts, processes, host name, IPC and control groups. All
# that it starts ends with it. `machine.sh STATE ADDRESS COMMAND...` keeps COMMAND running; `machine.sh --clean` removes the
# control groups of an earlier node.
set -e

# Every hierarchy of version 1 that this machine has, with our own group as its root.
mount_cgroups() {
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  while IFS=: read -r _ controllers _; do
    [ -n "$controllers" ] || continue
    mkdir "/sys/fs/cgroup/${controllers#name=}"
    mount -t cgroup -o "${controllers/#name=/none,name=}" cgroup "/sys/fs/cgroup/${controllers#name=}"
  done < /proc/self/cgroup
}

mount --make-rprivate /
umount -R -l /sys
mount -t sysfs sysfs /sys
mount_cgroups
if [ "$1" = --clean ]; then
  find /sys/fs/cgroup -mindepth 2 -depth -type d \( -path '*/kubepods*' -o -path '*/k8s.io*' \) -exec rmdir {} + || true
  exit
fi

state=$1 address=$2
shift 2
hostname local

# kubelet wants these settings of the kernel, and they are the whole machine's. It reads its own copies.
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/sysctl
for setting in vm/overcommit_memory=1 vm/panic_on_oom=0 kernel/panic=10 kernel/panic_on_oops=1 \
  kernel/keys/root_maxkeys=1000000 kernel/keys/root_maxbytes=25000000; do
  copy=/run/sysctl/${setting//\//.}
  echo "${setting#*=}" > "$copy"
  mount --bind "$copy" "/proc/sys/${setting%=*}"
done

mount -t tmpfs -o mode=755 tmpfs /var/lib
for folder in kubelet containerd; do
  mkdir -p "$state/$folder" "/var/lib/$folder"
  mount --bind "$state/$folder" "/var/lib/$folder"
done
mkdir -p /var/lib/cni "$state/pod-logs"
mount --bind "$state/pod-logs" /var/log
mount --make-rshared /

ip link delete node0 2> /dev/null || true
ip link add node0 type bridge
ip address add "$address/24" dev node0
ip link set node0 up
ip route replace default dev node0
echo 1 > /proc/sys/net/ipv4/ip_forward

"$@" &
# Processes whose parents have ended become children of this one.
while :; do wait -n || sleep 1; done
