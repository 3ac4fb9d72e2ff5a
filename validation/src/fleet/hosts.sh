#!/bin/bash
# Hosts with sshd in network namespaces on one bridge: hosts.sh up N | cut HOST | heal HOST | crash HOST | down.
# Everything lies below $FLEET: an ssh_config, and for each host its directory with its root, an
# overlay of / whose changes go with it, and the directories "medium" (/srv/medium of the host) and
# "runs" (/var/lib/flashmark). crash HOST kills
# what measures.
set -eu
bridge=fleetbr net=10.98.7
stop() {
    ip netns pids "$1" 2>/dev/null | xargs -r kill -9 2>/dev/null || true
}
case $1 in
up)
    mkdir -p "$FLEET" /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f "$FLEET/key"
    ip link add $bridge type bridge
    ip addr add $net.1/24 dev $bridge
    ip link set $bridge up
    for number in $(seq "$2"); do
        host=card$number address=$net.$((10 + number)) dir=$FLEET/card$number
        mkdir -p "$dir/upper" "$dir/tree" "$dir/medium" "$dir/runs"
        ip netns add "$host"
        ip link add "fleet$number" type veth peer name eth0 netns "$host"
        ip link set "fleet$number" master $bridge up
        ip -n "$host" addr add "$address/24" dev eth0
        ip -n "$host" link set eth0 up
        ip -n "$host" link set lo up
        ssh-keygen -q -t ed25519 -N '' -f "$dir/hostkey"
        printf '%s\n' "ListenAddress $address" "HostKey $dir/hostkey" "AuthorizedKeysFile $FLEET/key.pub" \
            "StrictModes no" "UsePAM no" "PidFile none" "Subsystem sftp internal-sftp" >"$dir/sshd_config"
        ip netns exec "$host" unshare -m -u --propagation private sh -ec "
            hostname $host
            mount -t tmpfs none '$dir/upper'
            mkdir '$dir/upper/changes' '$dir/upper/work'
            mount -t overlay -o 'lowerdir=/,upperdir=$dir/upper/changes,workdir=$dir/upper/work' none '$dir/tree'
            for at in dev proc run; do mount --rbind /\$at '$dir/tree/'\$at; done
            mount -t sysfs none '$dir/tree/sys'
            mount -t tmpfs none '$dir/tree/tmp'
            mkdir -p '$dir/tree$FLEET' '$dir/tree/srv/medium' '$dir/tree/var/lib/flashmark'
            mount --bind '$FLEET' '$dir/tree$FLEET'
            mount --bind '$dir/medium' '$dir/tree/srv/medium'
            mount --bind '$dir/runs' '$dir/tree/var/lib/flashmark'
            exec chroot '$dir/tree' /usr/sbin/sshd -D -e -f '$dir/sshd_config'" </dev/null >"$dir/log" 2>&1 &
        printf '%s\n' "Host $host" "  HostName $address" "  User root" "  IdentityFile $FLEET/key" \
            "  UserKnownHostsFile $FLEET/known" >>"$FLEET/ssh_config"
        echo "$address $(cut -d' ' -f1,2 "$dir/hostkey.pub")" >>"$FLEET/known"
    done
    ;;
cut) ip link set "fleet${2#card}" down ;;
heal) ip link set "fleet${2#card}" up ;;
crash) ip netns pids "$2" | while read -r process; do
    [ "$(cat "/proc/$process/comm" 2>/dev/null)" != flashmark ] || kill -9 "$process"
done ;;
down)
    for dir in "$FLEET"/card*/; do
        host=$(basename "$dir")
        stop "$host"
        ip netns del "$host" || true
        ip link del "fleet${host#card}" 2>/dev/null || true
    done
    ip link del $bridge
    ;;
esac
