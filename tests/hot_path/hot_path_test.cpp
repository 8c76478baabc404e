// After Logon nothing allocates, locks, throws or calls the kernel, except for the calls in a table here: receive,
// parse, validate, session, callback, encode, store, send, over each transport with each durability. Both ends of a
// conversation run in this thread, so that the trap covers the acceptor's and the initiator's paths: orders answered
// with two messages, heartbeats and test requests, a gap with its resend, rejects of either level. No test framework,
// because it would allocate. Prints a line per check; exit status 1 if any fails. An argument selects the transports
// whose name contains it.
#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "checks.hpp"
#include "conversation.hpp"
#include "temporary_folder.hpp"
#include "transport/epoll_transport.hpp"
#include "transport/io_uring_transport.hpp"
#include "transport/loopback_transport.hpp"
#include "transport/tls_certificates.hpp"
#include "transport/tls_context.hpp"
#include "transport/tls_transport.hpp"
#include "trap.hpp"

namespace nfx::test {
namespace {

// The stores of both ends' sessions, and the calls that they add to the transport's.
struct Keeping {
  const char* name;
  bool journal;
  Durability durability;
  CallSet allowed;
  std::uint64_t orders;
};
// write: wakes a sleeping flusher. read: clears the wake-up that the flusher sends after a sync, or when a segment is
// ready. sched_yield: send() that waits for its sync. The syncs themselves are calls of the flusher's thread.
const Keeping keepings[] = {
    {"memory", false, {}, {}, 5000},
    {"journal, durability none, with logs", true, Durability::none, {Call::write, Call::read}, 2000},
    {"journal, durability interval, with logs", true, Durability::interval, {Call::write, Call::read}, 2000},
    {"journal, durability group, with logs", true, Durability::group, {Call::write, Call::read}, 2000},
    {"journal, durability message, with logs",
     true,
     Durability::message,
     {Call::write, Call::read, Call::sched_yield},
     500},
};

void check_that_the_trap_works() {
  TrapCounts counts;
  {
    Trap trap;
    const auto number = std::make_unique<int>(1);
    asm volatile("" : : "r"(number.get()) : "memory");
    counts = trap.counts();
  }
  check(counts.allocations == 1, "the trap sees operator new");
  {
    Trap trap;
    std::string text(100, 'x');
    asm volatile("" : : "r"(text.data()) : "memory");
    counts = trap.counts();
  }
  check(counts.allocations == 1, "the trap sees the standard library allocate");
  std::mutex mutex;
  {
    Trap trap;
    const std::lock_guard lock{mutex};
    counts = trap.counts();
  }
  check(counts.locks == 1, "the trap sees a mutex");
  {
    Trap trap;
    try {
      throw 1;
    } catch (int) {
      counts = trap.counts();
    }
  }
  check(counts.throws == 1, "the trap sees an exception");
  {
    Trap trap;
    BIO_free(BIO_new(BIO_s_mem()));
    counts = trap.counts();
  }
  check(counts.allocations == 0 && counts.library_allocations > 0 && counts.library_releases > 0,
        "the trap sees OpenSSL allocate and release");
  if (!system_calls_available()) {
    std::printf("       system calls are not counted: this kernel or processor cannot hand them over\n");
    return;
  }
  {
    Trap trap;
    static_cast<void>(::getppid());
    counts = trap.counts();
  }
  check(counts.calls.unexpected == 1 && counts.calls.first == SYS_getppid, "the trap sees a system call");
  const int event = ::eventfd(0, EFD_CLOEXEC);
  {
    Trap trap{{Call::read}};
    const std::uint64_t one = 1;
    static_cast<void>(::write(event, &one, sizeof one) == sizeof one);
    std::uint64_t count = 0;
    static_cast<void>(::read(event, &count, sizeof count) == sizeof count);
    counts = trap.counts();
  }
  ::close(event);
  check(counts.calls.unexpected == 1 && counts.calls.first == SYS_write && counts.calls.of(Call::read) == 1,
        "the trap distinguishes calls that are allowed from those that are not");
}

struct Way {
  const char* name;
  CallSet allowed;
  Endpoint listen{"127.0.0.1", 0};
  std::shared_ptr<TlsContext> tls{};
};

// From 1 MiB to 64 in the file, and from 1 to 4 in the ring; the poll thread wakes the flusher for a step that it has
// not made by itself.
constexpr std::uint64_t growth_steps = 4;

// Which calls a durability adds, and how often.
void check_waking(const Keeping& keeping, const SystemCalls& calls, std::uint64_t messages) {
  const std::uint64_t writes = calls.of(Call::write), reads = calls.of(Call::read);
  if (keeping.durability < Durability::group)
    return check(writes <= growth_steps && reads <= 16,
                 "the flusher is woken for a journal's growth alone, and wakes the loops for new segments alone");
  check(writes <= messages, "at most one call for each message wakes the flusher");
}

// A group's sync begins when something waits for it; with one sync per message there are as many syncs as messages.
void check_syncs(const Keeping& keeping, const JournalCounters& counters, std::uint64_t messages) {
  check(counters.bytes > messages * 100, "and stored");
  std::printf("       the venue's journal was synced %llu times\n", static_cast<unsigned long long>(counters.syncs));
  switch (keeping.durability) {
    case Durability::none: break;
    case Durability::interval: break;
    case Durability::group: check(counters.syncs > messages / 50, "the answers to each burst waited for a sync"); break;
    case Durability::message: check(counters.syncs >= messages, "each answer waited for a sync of its own"); break;
    case Durability::replicated:
    case Durability::async: break;  // only for a cluster's gateway
  }
}

// On a busy host the kernel delivers late, and a burst fills its buffer for a moment. epoll then watches the socket
// until there is space.
constexpr CallSet full_socket{Call::epoll_ctl};
void check_full_sockets(const TrapCounts& counts) {
  check(counts.calls.of(Call::epoll_ctl) <= 2 + counts.calls.of(Call::send) / 100,
        "epoll's set is changed for full sockets alone, which are rare");
}

// Calls on sockets that all of Onload, VMA and XLIO carry out in user space, by their lists of intercepted functions:
// src/include/onload/declare_syscalls.h.tmpl of Xilinx-CNS/onload, and sock-redirect.h of Mellanox/libvma and
// Mellanox/libxlio. io_uring is in none of them, epoll_pwait2 only in Onload's since 2024.
constexpr CallSet accelerated{Call::recv, Call::send,  Call::epoll_wait, Call::epoll_ctl,
                              Call::read, Call::write, Call::close};

// OpenSSL 3.0 allocates small pieces for each record that it writes or reads, and frees them in the same call. Both
// ends are in the trap, so each record is written and read in it.
void check_openssl(const TrapCounts& counts) {
  constexpr std::uint64_t per_record = 4;
  const std::uint64_t records = counts.calls.of(Call::send);
  check(counts.library_allocations == counts.library_releases, "OpenSSL releases what it allocates");
  if (records != 0)
    check(counts.library_allocations <= per_record * records, "OpenSSL allocates at most four times for each record");
}

template <class T>
void talk_over(const Way& way, const Keeping& keeping, T& venue_transport, T& trader_transport, Around& around) {
  static const auto dictionary =
      std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
  const CallSet allowed = way.allowed | keeping.allowed;
  SessionSettings settings;
  settings.dictionary = dictionary;
  settings.listen = way.listen;
  settings.socket.tls = way.tls;
  Conversation<T> talk{venue_transport, trader_transport, settings, around};
  check(talk.log_on() && talk.settle(), "both sides log on");
  const std::uint64_t recorded_before = around.recorded();

  const std::uint64_t orders = keeping.orders;
  constexpr std::uint64_t lost = 300;
  bool done = false;
  TrapCounts counts;
  const auto messages_sent = [&] {
    return talk.venue().counters().messages_out + talk.trader().counters().messages_out;
  };
  const std::uint64_t sent_before = messages_sent();
  {
    Trap trap{allowed | full_socket};
    done = talk.trade(orders);
    counts = trap.counts();
  }
  check_full_sockets(counts);
  check(done && talk.venue_application.orders == orders && talk.trader_application.reports == 2 * orders,
        "all orders are answered twice each");
  check_counts(counts, "orders and their answers");
  if (way.tls != nullptr) check_openssl(counts);
  if (around.logs_and_keeps()) {
    // An order and its two answers, each sent and received.
    check(around.recorded() - recorded_before >= 6 * orders, "all of them were logged");
    check_waking(keeping, counts.calls, 3 * orders);
    check_syncs(keeping, talk.venue().journal()->counters(), 2 * orders);
  }
  if (const std::uint64_t sends = counts.calls.of(Call::send); sends != 0) {
    const std::uint64_t out = messages_sent() - sent_before;
    std::printf("       %llu messages in %llu calls of send\n", static_cast<unsigned long long>(out),
                static_cast<unsigned long long>(sends));
    check(2 * sends <= out, "one call of send sends several messages, on average");
  }

  {
    Trap trap{allowed};
    done = talk.idle();
    counts = trap.counts();
  }
  check(done && talk.venue().logged_on() && talk.trader().logged_on(),
        "heartbeats and test requests keep the session up");
  check_counts(counts, "heartbeats and test requests");

  {
    Trap trap{allowed};
    done = talk.provoke_rejects();
    counts = trap.counts();
  }
  check(done, "a malformed and an unsupported message are rejected");
  check_counts(counts, "rejects");

  check(talk.lose_the_answers(lost), "300 orders are answered into a connection that is lost");
  check(talk.log_on(), "the session is back");  // connecting may allocate; from Logon on nothing does
  const std::uint64_t wanted = 2 * (orders + lost);
  // The last connection ends meanwhile, and the new one is removed from epoll once it is busy-polled.
  constexpr CallSet ending{Call::close, Call::epoll_ctl};
  {
    Trap trap{allowed | ending};
    done = talk.turn_until([&] { return talk.trader_application.reports == wanted; });
    counts = trap.counts();
  }
  check(done && talk.venue_application.resends > 0, "what was lost is sent again");
  check_counts(counts, "the resend");
  check(talk.settle(), "the last connection is closed");
  {
    Trap trap{allowed};
    done = talk.trade(100);
    counts = trap.counts();
  }
  check(done, "trading continues");
  check_counts(counts, "orders on the second connection");

  talk.tap();
  {
    // The call that attached them has woken the loops, and some transports read that later.
    Trap trap{allowed | full_socket | CallSet{Call::read}};
    done = talk.trade(1000);
    counts = trap.counts();
  }
  check_full_sockets(counts);
  std::uint64_t copied = 0;
  talk.venue_tap.take([&copied](UtcTime, Direction, std::size_t, std::string_view) { ++copied; });
  check(done && copied != 0 && talk.venue_tap.dropped() != 0 && copied + talk.venue_tap.dropped() >= 3000,
        "messages are copied for another thread, and dropped once the copies fill the queue");
  check_counts(counts, "orders while both sides' messages are copied");

  talk.warm_up();
  const std::uint64_t sent = messages_sent(), handled = talk.venue_application.orders;
  {
    Trap trap{allowed};
    done = talk.rehearse(1000);
    counts = trap.counts();
  }
  check(done && messages_sent() == sent && talk.venue_application.orders == handled,
        "a thousand messages are rehearsed, and none is sent");
  check_counts(counts, "rehearsals");
  check(talk.trade(100), "trading continues after them");
}

template <class T>
void run(const Way& way, const Keeping& keeping, T& venue, T& trader) {
  std::printf("%s; %s\n", way.name, keeping.name);
  if (!keeping.journal) {
    Around nothing;
    return talk_over(way, keeping, venue, trader, nothing);
  }
  // If each message waits for a sync, memory replaces the disk: the calls are the same.
  const bool many_syncs = keeping.durability >= Durability::group && std::filesystem::is_directory("/dev/shm");
  const TemporaryFolder folder{many_syncs ? "/dev/shm" : std::filesystem::temp_directory_path()};
  Around journals_and_logs{folder.path(), keeping.durability, [&] {
                             venue.wake();
                             trader.wake();
                           }};
  talk_over(way, keeping, venue, trader, journals_and_logs);
}

template <class Inner, class Options>
void over_tcp(const Way& way, const Options& options) {
  for (const Keeping& keeping : keepings) {
    Inner venue{options}, trader{options};
    if (way.tls == nullptr) {
      run(way, keeping, venue, trader);
      continue;
    }
    TlsTransport<Inner> encrypted_venue{venue}, encrypted_trader{trader};
    run(way, keeping, encrypted_venue, encrypted_trader);
  }
}

// One certificate for both ends, which both trust its authority.
std::shared_ptr<TlsContext> make_tls(const TemporaryFolder& folder) {
  testing::Authority authority{folder};
  const auto files = authority.issue({});
  TlsOptions options;
  options.certificate = files.certificate;
  options.key = files.key;
  options.ca = authority.file();
  return std::make_shared<TlsContext>(options);
}

void over_each_transport(std::string_view only) {
  const auto wanted = [&](const Way& way) { return std::string_view{way.name}.find(only) != std::string_view::npos; };
  if (const Way way{"loopback", {}, {"venue", 9000}}; wanted(way)) {
    for (const Keeping& keeping : keepings) {
      LoopbackNetwork network;
      LoopbackTransport venue{network}, trader{network};
      run(way, keeping, venue, trader);
    }
  }
  const TemporaryFolder certificates;
  const auto tls = make_tls(certificates);
  constexpr CallSet tcp{Call::recv, Call::send, Call::epoll_wait};
  static_assert(accelerated.contains(tcp | full_socket));
  const std::pair<Way, EpollOptions> over_epoll[] = {
      {{"epoll, receiving directly", tcp}, {}},
      {{"epoll, receiving after epoll_wait", tcp}, {.direct_receive_limit = 0}},
      {{.name = "epoll with TLS", .allowed = tcp, .tls = tls}, {}},
  };
  for (const auto& [way, options] : over_epoll) {
    if (wanted(way)) over_tcp<EpollTransport>(way, options);
  }
  if (const IoUringFeatures features = probe_io_uring(); !features.available) {
    std::printf("io_uring is not tested here: %s\n", features.text.c_str());
    return;
  }
  constexpr CallSet ring{Call::io_uring_enter, Call::send};
  const std::pair<Way, IoUringOptions> over_io_uring[] = {
      {{"io_uring", ring}, {}},
      {{"io_uring with SQPOLL", ring}, {.sqpoll = true}},
      {{"io_uring without multishot receive", ring | CallSet{Call::recv}}, {.allow_multishot_receive = false}},
      {{.name = "io_uring with TLS", .allowed = ring, .tls = tls}, {}},
  };
  for (const auto& [way, options] : over_io_uring) {
    if (wanted(way)) over_tcp<IoUringTransport>(way, options);
  }
}

// Counts OpenSSL's allocations separately from NexusFIX's. Must be called before anything else uses OpenSSL.
bool count_openssl_apart() {
  return CRYPTO_set_mem_functions(
             [](std::size_t size, const char*, int) {
               const LibraryCall library;
               return std::malloc(size);
             },
             [](void* memory, std::size_t size, const char*, int) {
               const LibraryCall library;
               return std::realloc(memory, size);
             },
             [](void* memory, const char*, int) {
               const LibraryCall library;
               std::free(memory);
             }) == 1;
}

int main_of_test(std::string_view only) {
  if (!Trap::works()) {
    std::printf("SKIPPED: the sanitizer of this build owns the functions that the trap replaces\n");
    return 0;
  }
  check(count_openssl_apart(), "OpenSSL allocates through this test");
  check_that_the_trap_works();
  if (only.empty()) {
    check_side_paths();
    check_market_paths();
    check_live_paths();
    check_recording();
    check_fabric();
  }
  over_each_transport(only);
  return all_right ? 0 : 1;
}

}  // namespace
}  // namespace nfx::test

int main(int argc, char** argv) { return nfx::test::main_of_test(argc > 1 ? argv[1] : ""); }
