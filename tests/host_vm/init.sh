#!/bin/busybox sh
# shellcheck shell=dash
# The first process of the test machine. Runs the step that the kernel command line names (vm_step=...), prints each
# result between markers on the serial line, and stops the machine.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /bin /sbin /usr/sbin
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin HOME=/ TERM=dumb LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t debugfs debugfs /sys/kernel/debug
mount -t tracefs tracefs /sys/kernel/tracing
mount -t cgroup2 cgroup2 /sys/fs/cgroup
stty -onlcr </dev/ttyS0 2>/dev/null

# section NAME COMMAND...: its output and its exit code.
section() {
  section=$1
  shift
  # A marker always begins a line, whatever was printed before.
  printf '\n@@begin %s\n' "$section"
  "$@" 2>&1
  code=$?
  printf '\n@@end %s %d\n' "$section" "$code"
}

# Whether nfx has a command below `nfx host`, or one of those an option.
knows() {
  nfx host --help 2>/dev/null | grep -q "^  $1  "
}
has_option() {
  knows "$1" && nfx host "$1" --help 2>/dev/null | grep -q -e "$2"
}

show() {
  for file in "$@"; do
    echo "$file=$(cat "$file" 2>/dev/null)"
  done
}

cpus() {
  show /sys/devices/system/cpu/isolated /sys/devices/system/cpu/nohz_full /sys/devices/system/cpu/online
  show /sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list
  show /sys/devices/system/node/node[0-9]*/cpulist
  show /proc/sys/kernel/watchdog_cpumask /proc/irq/default_smp_affinity /sys/devices/virtual/workqueue/cpumask
  echo "init=$(taskset -p 1 | sed 's/.*: //')"
}

# Some reads on each of the given CPUs, so that the queues' interrupts have fired.
read_disks() {
  for cpu in "$@"; do
    for disk in /dev/nvme*n1; do
      taskset -c "$cpu" dd if="$disk" of=/dev/null bs=4k count=8 iflag=direct 2>/dev/null
    done
  done
}

interrupts() {
  for folder in /proc/irq/[0-9]*; do
    number=${folder##*/}
    echo "$number $(cat "/sys/kernel/irq/$number/actions" 2>/dev/null) $(cat "$folder/smp_affinity_list")" \
      "$(cat "$folder/effective_affinity_list" 2>/dev/null)"
  done
}

artefacts() {
  tar -C /out -cz . | base64
}

# What systemd does at boot with the artefacts that matter on a machine without systemd.
sysctls() {
  sed -n 's/^-\{0,1\}\([a-z][a-z0-9._]*\) *= *\(.*\)/\1=\2/p' /out/etc/sysctl.d/*.conf |
    while read -r setting; do sysctl -w "$setting"; done
}

# Everything that a change of the placement may touch and that has to be as before afterwards.
state() {
  for file in /proc/irq/*/smp_affinity_list /proc/irq/default_smp_affinity /sys/devices/virtual/workqueue/cpumask \
    /sys/devices/virtual/workqueue/*/cpumask /sys/fs/cgroup/cgroup.subtree_control /proc/sys/kernel/sched_rt_runtime_us \
    /proc/sys/kernel/numa_balancing /proc/sys/kernel/watchdog_cpumask /proc/sys/kernel/timer_migration \
    /proc/sys/vm/stat_interval; do
    [ -e "$file" ] && echo "$file=$(cat "$file" 2>&1)"
  done
  find /sys/fs/cgroup -type d | sort
  # Kernel threads come and go; those of these names are there from the beginning to the end.
  for task in /proc/[0-9]*; do
    name=$(cat "$task/comm" 2>/dev/null)
    case $name in
      init | init.sh | sleep | kthreadd | rcu_* | migration/* | ksoftirqd/* | cpuhp/* | watchdogd | kswapd*)
        echo "${task##*/} $name $(grep Cpus_allowed_list "$task/status" 2>/dev/null) $(cat "$task/cgroup" 2>/dev/null)"
        ;;
    esac
  done
}

runtime() {
  sleep 1000 &
  sleeper=$!
  section state_before state
  section runtime_apply nfx host apply /etc/vm.toml --runtime
  section runtime_verify nfx host verify /etc/vm.toml
  section runtime_again nfx host apply /etc/vm.toml --runtime
  section runtime_revert nfx host revert
  section state_after state
  kill "$sleeper"
}

commands() {
  for command in topology plan apply verify revert doctor; do
    knows "$command" && echo "$command"
  done
  has_option apply --runtime && echo runtime
  return 0
}

# What is said of the kernel's encryption; that nobody listens there does not matter.
kernel_tls() {
  nfx tls doctor 127.0.0.1:1 --timeout 1
}

tracing() {
  (cd /sys/kernel/tracing && show osnoise/options osnoise/cpus current_tracer && echo "instances=$(ls instances)")
}

noise() {
  nfx host noise --cpus 2 --seconds 1 --attribute --format json
}

noise_ended_by_a_signal() {
  nfx host noise --cpus 2 --seconds 3000 >/dev/null &
  measuring=$!
  until grep -q '^osnoise' /sys/kernel/tracing/instances/*/current_tracer 2>/dev/null; do usleep 10000; done
  kill -TERM "$measuring"
  wait "$measuring"
}

# Something else that disturbs CPU 2.
disturb() {
  taskset -c 2 sh -c 'while :; do :; done' &
  disturbing=$!
}

section commands commands
section cpus cpus
case ${vm_step-} in
  plain)
    section kernel_tls_without_module kernel_tls
    insmod /lib/modules/tls.ko
    section kernel_tls_with_module kernel_tls
    knows topology && section topology nfx host topology --format json
    knows plan && section plan nfx host plan /etc/vm.toml --format json
    section apply nfx host apply /etc/vm.toml --boot --output /out
    section artefacts artefacts
    section verify nfx host verify /etc/vm.toml
    has_option apply --runtime && runtime
    ;;
  planned)
    section sysctls sysctls
    section read_disks read_disks 0 1
    section interrupts interrupts
    section steer /bin/sh /out/usr/local/lib/nexusfix/steer-interrupts
    section verify nfx host verify /etc/vm.toml
    # What no boot parameter can say is left for the run time.
    has_option apply --runtime && section apply nfx host apply /etc/vm.toml --runtime
    section verify_after nfx host verify /etc/vm.toml
    knows doctor && section doctor nfx host doctor /etc/vm.toml --format json
    ;;
  noise)
    section tracing_before tracing
    disturb
    section noise noise
    kill "$disturbing"
    section noise_ended_by_a_signal noise_ended_by_a_signal
    section tracing_after tracing
    mkdir /sys/kernel/tracing/instances/rtla
    echo 0 >/sys/kernel/tracing/osnoise/cpus
    echo osnoise >/sys/kernel/tracing/instances/rtla/current_tracer
    section tracing_of_another tracing
    section noise_beside_another noise
    section tracing_of_another_after tracing
    ;;
  other)
    section verify nfx host verify /etc/vm.toml
    ;;
esac
printf '\n@@done\n'
sync
poweroff -f
