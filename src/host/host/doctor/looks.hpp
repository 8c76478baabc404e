// The checks with code of their own, by source file.
#pragma once

#include "host/doctor/check.hpp"

namespace nfx::doctor::look {

// isolation.cpp
Look isolcpus, isolcpus_flags, nohz_full, rcu_nocbs, boot_sets_agree, plan_and_boot_agree, plan_hash, offline,
    housekeeping, smt_siblings, cpusets, own_cpuset;
// neighbours.cpp
Look pid1_mask, other_tasks, kernel_threads, workqueues, writeback_workqueue;
// scheduler.cpp
Look rt_throttling, fair_server, rt_group, cgroup_quota, granularity, preemption, timer_migration, skew_tick, watchdog,
    tracing, audit;
// interrupts.cpp
Look default_affinity, affinity, effective_affinity, pending, managed, irqbalance, irqbalance_by_number,
    machine_check_poll;
DeviceLook nic_node;
// network.cpp
Look rps, flow_limit, busy_poll;
DeviceLook xps, queues, numa_node, coalescing, ring_sizes, napi;
// power.cpp
Look governor, energy_preference, idle_states, cpu_dma_latency, max_cstate, turbo, smt, clocksource, tsc, tsc_watchdog,
    clock_sync;
// memory.cpp
Look swap, dirty_pages, huge_pages;
// process.cpp
Look memlock, rtprio, nofile, nice, cap_nice, cap_lock, cap_net;
// virtualisation.cpp
Look hypervisor, vcpu_pinning, steal, container, mitigations;

// Reasons why any value of a setting is acceptable.
Excuse huge_pages_are_off, no_isolated_cpus, no_swap, one_node;

}  // namespace nfx::doctor::look
