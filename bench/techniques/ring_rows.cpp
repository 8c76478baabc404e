// io_uring: to submit a request that does nothing and to receive its completion, per set-up of the ring; and a message
// of 253 bytes through a socket pair, sent and received by the ring. What a kernel or a machine refuses is named.
#include <array>

#include "techniques/ring.hpp"
#include "techniques/rows.hpp"

namespace nfx::bench {
namespace {

constexpr std::size_t message_size = 253;

struct SetUp {
  const char* name;
  unsigned flags;
};

constexpr std::array set_ups{
    SetUp{"no flags", 0},
    SetUp{"COOP_TASKRUN", IORING_SETUP_COOP_TASKRUN},
    SetUp{"COOP_TASKRUN, SINGLE_ISSUER", IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER},
    SetUp{"COOP_TASKRUN, SINGLE_ISSUER, DEFER_TASKRUN",
          IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN},
    SetUp{"SQPOLL", IORING_SETUP_SQPOLL | IORING_SETUP_SINGLE_ISSUER},
};

// A polling thread of the kernel that shares its CPU with others takes milliseconds for a request.
std::uint32_t operations_of(const SetUp& set_up, const TechniqueOptions& options) noexcept {
  return (set_up.flags & IORING_SETUP_SQPOLL) != 0 ? options.operations / 20 : options.operations;
}

Figures time_nops(const SetUp& set_up, const TechniqueOptions& options, const TechniqueTools& tools) {
  Ring ring{set_up.flags, options.other};
  Timings timings{tools};
  const std::uint32_t operations = operations_of(set_up, options);
  const std::uint32_t warm_up = operations / 10;
  for (std::uint32_t i = 0; i < warm_up + operations; ++i) {
    const auto operation = [&] {
      ring.prepare_nop(i);
      if (ring.submit_and_wait() != i) throw WrongAnswerError("a completion is of another request");
    };
    if (i < warm_up)
      operation();
    else
      timings.time(operation);
  }
  return timings.figures();
}

Figures time_socket(const SetUp& set_up, const TechniqueOptions& options, const TechniqueTools& tools) {
  const SocketPair pair;
  Ring ring{set_up.flags, options.other};
  Timings timings{tools};
  std::array<char, message_size> out{}, in{};
  const std::uint32_t operations = operations_of(set_up, options);
  const std::uint32_t warm_up = operations / 10;
  for (std::uint32_t i = 0; i < warm_up + operations; ++i) {
    out.fill(static_cast<char>(i));
    const auto operation = [&] {
      ring.prepare_send(pair.ends[0], out.data(), out.size());
      ring.submit_and_wait();
      ring.prepare_receive(pair.ends[1], in.data(), in.size());
      ring.submit_and_wait();
    };
    if (i < warm_up)
      operation();
    else
      timings.time(operation);
    if (in != out) throw WrongAnswerError("other bytes came through the socket");
  }
  return timings.figures();
}

using Time = Figures (*)(const SetUp&, const TechniqueOptions&, const TechniqueTools&);

RepeatedGroup measure_group(const char* name, const char* title, Time time, const TechniqueOptions& options,
                            const TechniqueTools& tools) {
  RepeatedGroup group{name, title, {}};
  for (const SetUp& set_up : set_ups) {
    group.rows.push_back(
        empty_row(name, set_up.name, set_up.flags == 0, why_no_ring(set_up.flags, options.core, options.other)));
  }
  for (std::uint32_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t i = 0; i < set_ups.size(); ++i) {
      if (!group.rows[i].note.empty()) continue;
      run_repeat(group.rows[i], tools.counters, operations_of(set_ups[i], options),
                 [&] { return time(set_ups[i], options, tools); });
    }
  }
  return group;
}

}  // namespace

std::vector<RepeatedGroup> ring_groups(const TechniqueOptions& options, const TechniqueTools& tools) {
  return {measure_group("io_uring", "ns to submit a request that does nothing and to get its completion", time_nops,
                        options, tools),
          measure_group("io_uring, socket", "ns to send 253 bytes into a socket pair and to receive them", time_socket,
                        options, tools)};
}

}  // namespace nfx::bench
