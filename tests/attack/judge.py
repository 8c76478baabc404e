"""Compares what an attack cost with its limits. No process and no clock."""
from collections import Counter

# A reference below this counts as this: the differences are those of the scheduler.
LEAST_P99_US = 70
# --quick has a thousand samples a phase and one try, so it sees only what is far out.
QUICK_RATIO, QUICK_LEAST_US = 10, 5000
PROBE_LIMIT_S = 1.0
# Connections that end with the attack may each give a line at the same moment.
LINES_ANYWAY = 100


def latency_ratio(phases):
    """The innocent's p99 under attack, to that alone. Where other programs disturbed the phase alone, to the median of it, of
    the phase after the attack and of the one with a busy process; an attack whose effect stays disturbs only the last two.
    """
    without = sorted(phases[each]["p99_us"] for each in ("alone", "after", "control"))
    return phases["attack"]["p99_us"] / max(min(phases["alone"]["p99_us"], without[1]), LEAST_P99_US)


# A session's journal grows when the session is used: a ring of 4 MiB at most, and the segment made ahead is open.
FIRST_USE = {"shm_mb": 4.5, "fds": 1}


def cost_of(samples):
    """What the attack cost beyond what the server used before, and beyond what the innocent alone writes in the same time."""
    alone, begin, end, after = (samples[each] for each in ("alone", "begin", "end", "after"))
    most = {key: max(samples["most"][key], end[key]) for key in samples["most"]}
    times = (end["time"] - begin["time"]) / (begin["time"] - alone["time"])
    # Segments are allocated whole, now and then: the innocent's own writes are less than a megabyte a second.
    usual_disk = min(max(0, begin["disk"] - alone["disk"]) * times, 1e6 * (end["time"] - begin["time"]))
    # The innocent's ring takes memory as it is first written to. A short phase alone does not fill it.
    usual_shm = max(0, 1e6 * FIRST_USE["shm_mb"] - begin["shm"])

    def more(sample, key):
        return (sample[key] - begin[key]) / 1e6

    return {"memory_mb": more(most, "memory"), "memory_after_mb": more(after, "memory"),
            "disk_mb": more(most, "disk") - usual_disk / 1e6, "shm_mb": max(0, more(most, "shm") - usual_shm / 1e6),
            "shm_after_mb": max(0, more(after, "shm") - usual_shm / 1e6),
            "fds": after["fds"] - begin["fds"],
            "opened": sorted((Counter(after.get("open", [])) - Counter(begin.get("open", []))).elements()),
            "lines": end["lines"] - begin["lines"] - (begin["lines"] - alone["lines"]) * times}


def slow_probes(times):
    """Which Logons of the probe were too late; 99 % of them have to be in time."""
    if not times:
        return []
    bad = sum(each is None or each > PROBE_LIMIT_S for each in times)
    if bad <= len(times) // 100:
        return []
    return [f"{bad} of {len(times)} legitimate Logons did not succeed within {PROBE_LIMIT_S:g} s"]


def judge(attack, made, seconds, quick):
    """Latency failures, which may be the host's, and all others."""
    failures, limits, cost = list(made["failures"]), attack.limits, made.get("cost")
    if cost is None:
        return [], failures or ["nothing was measured"]
    phases, result = made["phases"], made["result"]
    made["ratio"] = latency_ratio(phases)
    made["ratio_to_control"] = phases["attack"]["p99_us"] / max(phases["control"]["p99_us"], LEAST_P99_US)
    most_ratio = max(limits.p99_ratio or 0, QUICK_RATIO) if quick else limits.p99_ratio
    slow = []
    if most_ratio and made["ratio"] > most_ratio and not (quick and phases["attack"]["p99_us"] < QUICK_LEAST_US):
        slow.append(f"the innocent's p99 is {made['ratio']:.2f} times that without the attack, limit {most_ratio:g}")
    for key, unit in (("memory_mb", "MB of memory"), ("disk_mb", "MB of disk"), ("shm_mb", "MB of shared memory"),
                      ("fds", "descriptors still open")):
        limit = getattr(limits, key)
        if limit is not None:
            limit += limits.first_used * FIRST_USE.get(key, 0)
        if limit is not None and cost[key] > limit:
            names = f": {', '.join(cost['opened'][:8])}" if key == "fds" and cost.get("opened") else ""
            failures.append(f"{cost[key]:.0f} {unit} more, limit {limit:g}{names}")
    back = max(0, cost["memory_after_mb"]) + max(0, cost["shm_after_mb"])
    most_back = limits.back_mb + limits.first_used * FIRST_USE["shm_mb"]
    if back > most_back:
        failures.append(f"{back:.0f} MB of memory and shared memory are still used after it, limit {most_back:g}")
    if limits.lines_s is not None and cost["lines"] > LINES_ANYWAY + limits.lines_s * seconds:
        failures.append(f"{cost['lines']:.0f} lines more in {seconds:g} s, limit {LINES_ANYWAY} and {limits.lines_s:g}/s")
    if limits.out_mb is not None and result.get("bytes_in", 0) / 1e6 > limits.out_mb + limits.out_mb_s * seconds:
        failures.append(f"{result['bytes_in'] / 1e6:.0f} MB sent to the attacker in {seconds:g} s, limit "
                        f"{limits.out_mb:g} MB and {limits.out_mb_s:g} MB/s")
    if result.get("broken") or not result:
        failures.append(f"the attack itself failed: {result.get('broken', 'see above')}")
    elif not result.get("units"):
        failures.append("the attack did nothing: no connection, message or Logon was possible")
    return slow, failures + slow_probes(made["probes"])
