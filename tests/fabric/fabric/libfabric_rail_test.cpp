// The rail over libfabric, with each provider that runs on any machine. The peer is a child that makes one call at a
// time, so that the test controls the order.
#include "nexusfix/fabric/rail_kinds.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "nexusfix/fabric/rail.hpp"

namespace nfx::fabric {
namespace {

constexpr std::uint64_t region_size = std::uint64_t{1} << 20U;
// Polls until a running peer has answered; a bound, not a wait.
constexpr int patience = 300'000;

struct End {
  Region region;
  std::unique_ptr<LibfabricRail> rail;
  std::vector<Completion> seen;

  End(const LibfabricRailOptions& options, std::uint64_t size = region_size) {
    auto made = LibfabricRail::make(options);
    if (!made) throw std::runtime_error(made.error());
    rail = std::move(*made);
    auto memory = Region::make({.use = "test", .size = size, .node = -1, .huge_pages = false});
    if (!memory) throw std::runtime_error(memory.error());
    region = std::move(*memory);
    if (auto added = rail->add_region(region); !added) throw std::runtime_error(added.error());
  }

  std::size_t poll() {
    std::array<Completion, 16> out;
    const std::size_t count = rail->poll(out);
    seen.insert(seen.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count));
    return count;
  }
  [[nodiscard]] std::size_t count(CompletionKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(seen, kind, &Completion::kind));
  }
};

MonotonicTime at(int ms) { return MonotonicTime{std::chrono::milliseconds{ms}}; }

struct Command {
  enum class Call : std::uint8_t { open, maintain, poll, write, close, fill, digest, add_region } call = Call::poll;
  int ms = 0;
  Write write{};
  std::byte value{};
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
};
struct Reply {
  RailState state = RailState::closed;
  WriteResult result = WriteResult::ok;
  std::size_t count = 0;
  std::array<Completion, 16> completions{};
  std::uint64_t digest = 0;
};

std::uint64_t digest(const std::byte* bytes, std::uint64_t length) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (std::uint64_t i = 0; i < length; ++i) hash = (hash ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3;
  return hash;
}

void do_call(End& end, std::vector<Region>& more, const Command& command, Reply& reply) {
  switch (command.call) {
    case Command::Call::open: end.rail->open(at(command.ms)); break;
    case Command::Call::maintain: end.rail->maintain(at(command.ms)); break;
    case Command::Call::poll: reply.count = end.rail->poll(reply.completions); break;
    case Command::Call::write: reply.result = end.rail->try_write(command.write); break;
    case Command::Call::close: end.rail->close(); break;
    case Command::Call::fill:
      std::memset(end.region.data() + command.offset, std::to_integer<int>(command.value), command.length);
      break;
    case Command::Call::digest: reply.digest = digest(end.region.data() + command.offset, command.length); break;
    case Command::Call::add_region:
      more.push_back(Region::make({.use = "more", .size = 4096, .node = -1, .huge_pages = false}).value());
      static_cast<void>(end.rail->add_region(more.back()));
      break;
  }
  reply.state = end.rail->state();
}

std::string memory_name(pid_t process, int number) {
  return std::to_string(process) + ':' + std::to_string(::getuid()) + ':' + std::to_string(number);
}

// An end in another process.
class Peer {
 public:
  explicit Peer(const LibfabricRailOptions& options) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0) throw std::runtime_error("socketpair");
    child_ = ::fork();
    if (child_ == 0) {
      ::close(pair[0]);
      serve(pair[1], options);
    }
    ::close(pair[1]);
    socket_ = pair[0];
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer() {
    kill();
    ::close(socket_);
  }

  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    // libfabric's shm leaves 16 MiB of a killed process for each endpoint.
    for (int number = 0; number < 16; ++number) ::unlink(("/dev/shm/" + memory_name(child_, number)).c_str());
    child_ = 0;
  }

  Reply call(const Command& command) {
    Reply reply;
    if (::send(socket_, &command, sizeof command, MSG_NOSIGNAL) != sizeof command ||
        ::recv(socket_, &reply, sizeof reply, MSG_WAITALL) != sizeof reply)
      throw std::runtime_error("the peer's process ended");
    state = reply.state;
    seen.insert(seen.end(), reply.completions.begin(),
                reply.completions.begin() + static_cast<std::ptrdiff_t>(reply.count));
    return reply;
  }
  void open() { call({.call = Command::Call::open}); }
  void maintain(int ms) { call({.call = Command::Call::maintain, .ms = ms}); }
  void poll() { call({.call = Command::Call::poll}); }
  void close() { call({.call = Command::Call::close}); }
  WriteResult write(const Write& write) { return call({.call = Command::Call::write, .write = write}).result; }
  void fill(int value, std::uint64_t offset = 0, std::uint64_t length = region_size) {
    call({.call = Command::Call::fill, .value = std::byte(value), .offset = offset, .length = length});
  }
  std::uint64_t digest_of(std::uint64_t offset, std::uint64_t length) {
    return call({.call = Command::Call::digest, .offset = offset, .length = length}).digest;
  }
  [[nodiscard]] std::size_t count(CompletionKind kind) const {
    return static_cast<std::size_t>(std::ranges::count(seen, kind, &Completion::kind));
  }

  RailState state = RailState::closed;
  std::vector<Completion> seen;

 private:
  [[noreturn]] static void serve(int socket, const LibfabricRailOptions& options) {
    try {
      End end{options};
      std::vector<Region> more;
      more.reserve(1);
      Command command;
      while (::recv(socket, &command, sizeof command, MSG_WAITALL) == sizeof command) {
        Reply reply;
        do_call(end, more, command, reply);
        if (::send(socket, &reply, sizeof reply, MSG_NOSIGNAL) != sizeof reply) break;
      }
    } catch (const std::exception& error) {
      std::fprintf(stderr, "the peer: %s\n", error.what());
    }
    ::_exit(1);
  }

  pid_t child_ = 0;
  int socket_ = -1;
};

class LibfabricRailOver : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!libfabric_supported()) GTEST_SKIP() << "needs libfabric (package libfabric-dev)";
  }

  LibfabricRailOptions options(RailEnd end) const {
    LibfabricRailOptions options;
    options.address = {end, place_};
    options.provider = GetParam();
    return options;
  }

  void connect(End& a, Peer& b) {
    a.rail->open(at(0));
    b.open();
    for (int ms = 1; ms < 100'000 && (a.rail->state() != RailState::up || b.state != RailState::up); ++ms) {
      a.rail->maintain(at(ms));
      b.maintain(ms);
    }
    ASSERT_EQ(a.rail->state(), RailState::up) << a.rail->last_error();
    ASSERT_EQ(b.state, RailState::up);
  }

  // Runs until both have this many; both ends make progress.
  static void until(End& a, std::size_t of_a, Peer& b, std::size_t of_b) {
    for (int i = 0; i < patience && (a.seen.size() < of_a || b.seen.size() < of_b); ++i) {
      a.poll();
      b.poll();
    }
  }

  static void offer(Peer& sender, End& receiver, const Write& write) {
    for (int i = 0; i < 10'000 && sender.write(write) == WriteResult::again; ++i) {
      sender.poll();
      receiver.poll();
    }
  }

  static void post(End& from, Peer& peer, const Write& write) {
    WriteResult result = WriteResult::again;
    for (int i = 0; i < patience && result == WriteResult::again; ++i) {
      result = from.rail->try_write(write);
      from.poll();
      peer.poll();
    }
    ASSERT_EQ(result, WriteResult::ok) << from.rail->last_error();
  }

  const std::string place_ = ::testing::TempDir() + "fabric_" + std::to_string(::getpid()) + ".rail";
};

INSTANTIATE_TEST_SUITE_P(Providers, LibfabricRailOver, ::testing::Values("shm", "tcp;ofi_rxm", "net"),
                         [](const auto& about) {
                           std::string name = about.param;
                           std::ranges::replace(name, ';', '_');
                           return name;
                         });

TEST_P(LibfabricRailOver, writes_arrive_whole_each_with_its_number_once) {
  Peer b{options(RailEnd::connects)};
  End a{options(RailEnd::listens)};
  connect(a, b);
  std::mt19937_64 random{7};
  for (std::size_t i = 0; i < region_size; ++i) a.region.data()[i] = static_cast<std::byte>(random());
  constexpr std::uint32_t writes = 300;
  constexpr std::array<std::uint32_t, 8> lengths{0, 1, 8, 64, 4096, 4097, 20'000, 65'536};
  const std::uint32_t slots = a.rail->limits().slots;
  for (std::uint32_t number = 0; number < writes; ++number) {
    const std::uint32_t length = lengths[number % lengths.size()];
    // A different offset here than there.
    const std::uint64_t offset = number % 15 * 65'536;
    b.fill(0, offset + 100, length);
    const std::uint32_t slot = number % slots;
    post(a, b,
         {.local_offset = offset,
          .remote_offset = offset + 100,
          .length = length,
          .number = 0xfff00000 + number,
          .slot = slot,
          .more = number % 3 == 0});
    until(a, number + 1, b, number + 1);
    ASSERT_EQ(b.seen.size(), number + 1);
    EXPECT_EQ(b.seen.back().kind, CompletionKind::arrived);
    EXPECT_EQ(b.seen.back().value, 0xfff00000 + number);
    EXPECT_EQ(a.seen.back().kind, CompletionKind::done);
    EXPECT_EQ(a.seen.back().value, slot);
    ASSERT_EQ(b.digest_of(offset + 100, length), digest(a.region.data() + offset, length)) << length << " bytes";
  }
}

TEST_P(LibfabricRailOver, many_writes_under_way_arrive_each_once) {
  Peer b{options(RailEnd::connects)};
  End a{options(RailEnd::listens)};
  connect(a, b);
  const std::uint32_t slots = a.rail->limits().slots;
  for (std::uint32_t i = 0; i < slots; ++i) {
    post(a, b, {.local_offset = i * 4096, .remote_offset = i * 4096, .length = 4096, .number = i, .slot = i});
  }
  until(a, slots, b, slots);
  std::vector<int> numbers(slots), done(slots);
  for (const Completion& each : b.seen) ++numbers.at(each.value);
  for (const Completion& each : a.seen) ++done.at(each.value);
  EXPECT_EQ(numbers, std::vector<int>(slots, 1));
  EXPECT_EQ(done, std::vector<int>(slots, 1));
}

TEST_P(LibfabricRailOver, a_write_outside_of_a_region_fails_and_does_nothing) {
  Peer b{options(RailEnd::connects)};
  End a{options(RailEnd::listens)};
  connect(a, b);
  EXPECT_EQ(a.rail->try_write({.local_offset = region_size, .length = 1}), WriteResult::failed);
  EXPECT_EQ(a.rail->try_write({.remote_offset = region_size - 1, .length = 2}), WriteResult::failed);
  EXPECT_EQ(a.rail->try_write({.remote_offset = UINT64_MAX, .length = 2}), WriteResult::failed);
  EXPECT_EQ(a.rail->try_write({.length = 1, .local_region = RegionIndex{1}}), WriteResult::failed);
  EXPECT_EQ(a.rail->try_write({.length = 1, .remote_region = RegionIndex{1}}), WriteResult::failed);
  post(a, b, {.length = 8, .number = 1});
  until(a, 1, b, 1);
  EXPECT_EQ(b.seen.size(), 1U);
}

TEST_P(LibfabricRailOver, the_peers_end_is_reported_as_down_and_the_rail_opens_again) {
  Peer b{options(RailEnd::connects)};
  End a{options(RailEnd::listens)};
  for (int round = 0; round < 3; ++round) {
    connect(a, b);
    a.seen.clear();
    b.seen.clear();
    post(a, b, {.length = 5000, .number = 7});
    until(a, 1, b, 1);
    ASSERT_EQ(b.count(CompletionKind::arrived), 1U);
    b.close();
    EXPECT_EQ(b.state, RailState::closed);
    for (int ms = 1; ms < 10'000 && a.rail->state() != RailState::closed; ++ms) {
      a.rail->maintain(at(ms));
      a.poll();
    }
    EXPECT_EQ(a.rail->state(), RailState::closed);
    EXPECT_EQ(a.seen.back().kind, CompletionKind::down);
    EXPECT_EQ(a.rail->try_write({.length = 1}), WriteResult::failed);
  }
}

TEST_P(LibfabricRailOver, a_peer_that_closes_before_the_first_write_is_reported_as_down) {
  for (int round = 0; round < 3; ++round) {
    Peer b{options(RailEnd::connects)};
    End a{options(RailEnd::listens)};
    connect(a, b);
    if (round % 2 == 1) static_cast<void>(b.write({.length = 64}));
    b.close();
    for (int ms = 1; ms < 10'000 && a.rail->state() == RailState::up; ++ms) {
      a.poll();
      a.rail->maintain(at(ms));
    }
    EXPECT_EQ(a.count(CompletionKind::down), 1U);
  }
}

// The fence: a write in flight when the sender closed and reused its memory is not mistaken for the sent data.
TEST_P(LibfabricRailOver, no_number_arrives_with_bytes_that_changed_after_close) {
  std::size_t arrived = 0;
  for (int round = 0; round < 20; ++round) {
    Peer sender{options(RailEnd::connects)};
    End receiver{options(RailEnd::listens)};
    connect(receiver, sender);
    sender.fill(1);
    for (std::uint32_t i = 0; i < 8; ++i) {
      const Write write{
          .local_offset = i * 65'536, .remote_offset = i * 65'536, .length = 65'536, .number = i, .slot = i};
      offer(sender, receiver, write);
    }
    for (int i = 0; i < round * 3; ++i) {
      sender.poll();
      if (i % 4 == 0) receiver.poll();
    }
    sender.close();
    sender.fill(2);
    for (int ms = 1; ms < 2000 && receiver.rail->state() == RailState::up; ++ms) {
      receiver.poll();
      receiver.rail->maintain(at(ms));
    }
    EXPECT_EQ(receiver.count(CompletionKind::down), 1U);
    for (const Completion& each : receiver.seen) {
      if (each.kind != CompletionKind::arrived) continue;
      ++arrived;
      const std::byte* const page = receiver.region.data() + std::uint64_t{each.value} * 65'536;
      ASSERT_TRUE(std::all_of(page, page + 65'536, [](std::byte b) { return b == std::byte{1}; })) << "round " << round;
    }
  }
  EXPECT_GT(arrived, 0U);
}

// No write of a connection that this end has closed changes its memory.
TEST_P(LibfabricRailOver, no_write_of_the_peer_changes_memory_after_close) {
  Peer sender{options(RailEnd::connects)};
  End receiver{options(RailEnd::listens)};
  connect(receiver, sender);
  sender.fill(1);
  for (std::uint32_t i = 0; i < 8; ++i) {
    const Write write{.remote_offset = i * 65'536, .length = 65'536, .number = i, .slot = i};
    offer(sender, receiver, write);
  }
  receiver.rail->close();
  receiver.seen.clear();
  std::memset(receiver.region.data(), 3, region_size);
  receiver.rail->open(at(0));
  for (int ms = 1; ms < 2000; ++ms) {
    sender.poll();
    receiver.poll();
    sender.maintain(ms);
    receiver.rail->maintain(at(ms));
  }
  const std::byte* const bytes = receiver.region.data();
  EXPECT_TRUE(std::all_of(bytes, bytes + region_size, [](std::byte b) { return b == std::byte{3}; }));
  EXPECT_EQ(receiver.count(CompletionKind::arrived), 0U);
}

TEST_P(LibfabricRailOver, a_peer_that_was_killed_is_reported_as_down) {
  Peer b{options(RailEnd::connects)};
  End a{options(RailEnd::listens)};
  connect(a, b);
  for (std::uint32_t i = 0; i < 16; ++i) static_cast<void>(a.rail->try_write({.length = 65'536, .slot = i}));
  b.poll();
  b.kill();
  for (int ms = 0; ms < patience && a.rail->state() == RailState::up; ++ms) {
    a.rail->maintain(at(ms));
    a.poll();
  }
  EXPECT_EQ(a.rail->state(), RailState::closed);
  EXPECT_EQ(a.count(CompletionKind::down), 1U);
}

TEST_P(LibfabricRailOver, peers_with_other_regions_are_refused) {
  Peer b{options(RailEnd::connects)};
  End a{options(RailEnd::listens)};
  b.call({.call = Command::Call::add_region});
  a.rail->open(at(0));
  b.open();
  for (int ms = 1; ms < 1000 && a.rail->state() == RailState::opening; ++ms) {
    a.rail->maintain(at(ms));
    b.maintain(ms);
  }
  EXPECT_EQ(a.rail->state(), RailState::closed);
  EXPECT_NE(a.rail->last_error().find("another number of regions"), std::string_view::npos) << a.rail->last_error();
}

std::string refusal(const LibfabricRailOptions& options) {
  auto made = LibfabricRail::make(options);
  return made ? "accepted" : made.error();
}

TEST(LibfabricRail, what_cannot_be_made_is_refused_with_the_remedy) {
  LibfabricRailOptions options;
  options.address = {RailEnd::listens, ::testing::TempDir() + "fabric_refused.rail"};
  if (!libfabric_supported()) {
    EXPECT_EQ(refusal(options), libfabric_unsupported);
    EXPECT_NE(refusal(options).find("libfabric-dev"), std::string::npos);
    return;
  }
  options.provider = "nothing";
  EXPECT_NE(refusal(options).find("no card for provider 'nothing'"), std::string::npos) << refusal(options);
  EXPECT_NE(refusal(options).find("fi_info -l"), std::string::npos);
  options.provider = "tcp;ofi_rxm";
  options.card = "none";
  EXPECT_NE(refusal(options).find("has no card 'none'"), std::string::npos) << refusal(options);
  options.card.clear();
  options.slots = 0;
  EXPECT_NE(refusal(options).find("slots"), std::string::npos);
  options.slots = 16;
  options.provider = "shm";
  options.address.place = "127.0.0.1:0";
  EXPECT_NE(refusal(options).find("Unix socket"), std::string::npos) << refusal(options);
}

// In a new process, which has no rail yet. The exit status says which check failed.
int left_memory(const std::string& folder, const std::string& others) {
  const std::string left = "/dev/shm/" + memory_name(::getpid(), 77);
  std::ofstream{left} << "left by a process that had this number";
  const auto make = [&folder](const char* name) {
    LibfabricRailOptions options;
    options.address = {RailEnd::listens, folder + name};
    options.provider = "shm";
    return LibfabricRail::make(options);
  };
  auto rail = make("a");
  if (!rail) return 1;
  if (std::filesystem::exists(left)) return 2;
  if (!std::filesystem::exists(others)) return 3;
  // From here on, memory with this number belongs to this process.
  std::ofstream{left} << "of this process";
  auto second = make("b");
  if (!second) return 4;
  const bool kept = std::filesystem::exists(left);
  std::filesystem::remove(left);
  return kept ? 0 : 5;
}

TEST(LibfabricRail, memory_left_by_a_killed_process_of_the_same_number_is_removed_before_the_first_endpoint) {
  if (!libfabric_supported()) GTEST_SKIP() << "needs libfabric (package libfabric-dev)";
  // Memory of a running process: this one. Its number may begin with the child's number, and the other way round.
  const std::string others = "/dev/shm/" + memory_name(::getpid(), 78);
  std::ofstream{others} << "of another process";
  const std::string folder = ::testing::TempDir() + "fabric_left_" + std::to_string(::getpid());
  const pid_t child = ::fork();
  if (child == 0) ::_exit(left_memory(folder, others));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(std::filesystem::exists(others));
  std::filesystem::remove(others);
  std::filesystem::remove("/dev/shm/" + memory_name(child, 77));
  for (const char* name : {"a", "b"}) std::filesystem::remove(folder + name);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(LibfabricRail, without_a_provider_the_first_that_is_there_is_chosen) {
  if (!libfabric_supported()) GTEST_SKIP() << "needs libfabric (package libfabric-dev)";
  LibfabricRailOptions options;
  options.address = {RailEnd::listens, ::testing::TempDir() + "fabric_chosen_" + std::to_string(::getpid())};
  auto made = LibfabricRail::make(options);
  ASSERT_TRUE(made) << made.error();
  EXPECT_NE(std::ranges::find(preferred_providers, (*made)->provider()), std::end(preferred_providers));
}

}  // namespace
}  // namespace nfx::fabric
