// UDP lines over the loopback interface: received datagrams, time stamps, drops, and refusals.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "nexusfix/transport/udp.hpp"
#include "transport/forbid_call.hpp"

namespace nfx {
namespace {

using namespace std::chrono_literals;

struct Received {
  std::string bytes;
  UtcTime at;
  StampSource stamp;
  bool truncated;
  std::uint16_t line;
  std::string sender;
};

// Everything up to `count` datagrams; fewer if none arrives for a long time.
std::vector<Received> take(UdpReceiver& receiver, std::size_t count) {
  std::vector<Received> all;
  while (all.size() < count) {
    receiver.wait(10s);
    const std::size_t got = receiver.poll([&](const UdpDatagram& datagram) {
      all.push_back({std::string{datagram.bytes}, datagram.received, datagram.stamp, datagram.truncated, datagram.line,
                     sender_of(datagram)});
    });
    if (got == 0) break;
  }
  return all;
}

UdpAddress to(const UdpReceiver& receiver, std::size_t line = 0) { return receiver.lines()[line].address; }

std::string why(const std::vector<UdpLineOptions>& lines, const UdpReceiverOptions& options = {}) {
  try {
    const UdpReceiver receiver{lines, options};
  } catch (const UdpError& error) {
    return error.what();
  }
  return "nothing is refused";
}

std::string why_not(const std::string& address) {
  try {
    return to_string(parse_udp_address(address));
  } catch (const UdpError& error) {
    return error.what();
  }
}

TEST(UdpAddresses, are_read_as_they_are_written) {
  for (const std::string text : {"10.0.0.5:5000", "239.1.1.1:65535@eth0", "[ff15::1]:5000@lo", "[::1]:0"}) {
    EXPECT_EQ(to_string(parse_udp_address(text)), text);
  }
  EXPECT_TRUE(is_multicast(parse_udp_address("224.0.0.1:1")));
  EXPECT_TRUE(is_multicast(parse_udp_address("[ff02::1]:1")));
  EXPECT_FALSE(is_multicast(parse_udp_address("127.0.0.1:1")));
}

TEST(UdpAddresses, that_are_wrong_are_named_with_what_to_write) {
  for (const std::string text : {"239.1.1.1", "239.1.1.1:", "239.1.1.1:65536", "239.1.1.1:1@", "eth0:5000", "::1:5000",
                                 "1.2.3.4:5x", "", "@", ":1"}) {
    const std::string error = why_not(text);
    EXPECT_NE(error.find("write ADDRESS:PORT"), std::string::npos) << text << ": " << error;
  }
}

TEST(UdpReceiver, passes_on_every_datagram_with_line_sender_and_a_stamp_of_the_kernel) {
  UdpReceiver receiver{{{"A", {"127.0.0.1", 0, ""}, 0}, {"B", {"::1", 0, ""}, 0}}};
  UdpSender a{to(receiver, 0)};
  UdpSender b{to(receiver, 1)};
  // The kernel starts stamping soon after the first socket has requested it.
  const auto until = std::chrono::steady_clock::now() + 10min;
  for (bool stamped = false; !stamped && std::chrono::steady_clock::now() < until;) {
    ASSERT_EQ(a.send("first"), UdpSent::sent);
    const auto got = take(receiver, 1);
    ASSERT_EQ(got.size(), 1u);
    stamped = got[0].stamp == StampSource::kernel;
  }
  const auto before = std::chrono::system_clock::now();
  ASSERT_EQ(a.send("on A"), UdpSent::sent);
  ASSERT_EQ(a.send(""), UdpSent::sent);
  ASSERT_EQ(b.send("on B"), UdpSent::sent);
  const auto got = take(receiver, 3);
  const auto after = std::chrono::system_clock::now();
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].bytes, "on A");
  EXPECT_EQ(got[1].bytes, "");
  EXPECT_EQ(got[2].bytes, "on B");
  EXPECT_EQ(got[2].line, 1);
  EXPECT_TRUE(got[0].sender.starts_with("127.0.0.1:")) << got[0].sender;
  EXPECT_TRUE(got[2].sender.starts_with("[::1]:") || got[2].sender.starts_with("::1:")) << got[2].sender;
  for (const Received& each : got) {
    EXPECT_EQ(each.stamp, StampSource::kernel);
    EXPECT_FALSE(each.truncated);
    EXPECT_GE(each.at, before - 1ms);
    EXPECT_LE(each.at, after + 1ms);
  }
  EXPECT_EQ(receiver.counters(1).datagrams, 1u);
  EXPECT_EQ(receiver.counters(1).bytes, 4u);
}

TEST(UdpReceiver, sends_requests_whose_answers_come_back_to_their_line) {
  UdpReceiver server{{{"requests", {"127.0.0.1", 0, ""}, 0}}};
  UdpReceiver client{{{"A", {"127.0.0.1", 0, ""}, 0}, {"answers", {"127.0.0.1", 0, ""}, 0}}};
  ASSERT_EQ(client.send(1, destination_of(to(server)), "what is missing"), UdpSent::sent);
  UdpDestination from;
  const auto until = std::chrono::steady_clock::now() + 10min;
  while (from.size == 0 && std::chrono::steady_clock::now() < until) {
    server.wait(10ms);
    server.poll([&](const UdpDatagram& datagram) { from = destination_of(datagram); });
  }
  ASSERT_NE(from.size, 0u);
  ASSERT_EQ(server.send(0, from, "this"), UdpSent::sent);
  const auto got = take(client, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].bytes, "this");
  EXPECT_EQ(got[0].line, 1);
  EXPECT_EQ(server.send(0, from, std::string(70'000, 'x')), UdpSent::refused);
}

TEST(UdpReceiver, receives_a_group_that_it_has_joined_and_no_other) {
  UdpReceiver receiver{{{"A", {"239.255.77.1", 0, "lo"}, 0}}};
  const std::uint16_t port = to(receiver).port;
  UdpReceiver other{{{"B", {"239.255.77.2", port, "lo"}, 0}}};
  UdpSender mine{to(receiver)};
  UdpSender others{to(other)};
  for (int i = 0; i < 10; ++i) {
    if (others.send("for B") != UdpSent::sent || mine.send("for A") != UdpSent::sent)
      GTEST_SKIP() << "the loopback interface of this host takes no multicast";
  }
  const auto got = take(receiver, 10);
  ASSERT_EQ(got.size(), 10u);
  for (const Received& each : got) EXPECT_EQ(each.bytes, "for A");
  EXPECT_EQ(take(other, 10).size(), 10u);
  EXPECT_EQ(receiver.counters(0).datagrams, 10u);
}

TEST(UdpReceiver, finds_the_interface_of_a_group_by_its_address_too) {
  EXPECT_EQ(why({{"A", {"239.255.77.3", 0, "127.0.0.1"}, 0}}), "nothing is refused");
  EXPECT_EQ(why({{"A", {"ff15::77", 0, "lo"}, 0}}), "nothing is refused");
}

TEST(UdpReceiver, bounds_a_poll_by_the_batch_of_each_line) {
  UdpReceiver receiver{{{"A", {"127.0.0.1", 0, ""}, 0}}, {.batch = 4, .datagram_bytes = 64}};
  UdpSender sender{to(receiver)};
  for (int i = 0; i < 10; ++i) ASSERT_EQ(sender.send(std::to_string(i)), UdpSent::sent);
  std::string order;
  const auto see = [&](const UdpDatagram& datagram) { order += datagram.bytes; };
  EXPECT_EQ(receiver.poll(see), 4u);
  EXPECT_EQ(receiver.poll(see), 4u);
  EXPECT_EQ(receiver.poll(see), 2u);
  EXPECT_EQ(receiver.poll(see), 0u);
  EXPECT_EQ(order, "0123456789");
}

TEST(UdpReceiver, marks_and_counts_datagrams_that_are_longer_than_it_takes) {
  UdpReceiver receiver{{{"A", {"127.0.0.1", 0, ""}, 0}}, {.batch = 8, .datagram_bytes = 100}};
  UdpSender sender{to(receiver)};
  ASSERT_EQ(sender.send(std::string(101, 'l')), UdpSent::sent);
  ASSERT_EQ(sender.send(std::string(100, 's')), UdpSent::sent);
  const auto got = take(receiver, 2);
  ASSERT_EQ(got.size(), 2u);
  EXPECT_TRUE(got[0].truncated);
  EXPECT_EQ(got[0].bytes.size(), 100u);
  EXPECT_FALSE(got[1].truncated);
  EXPECT_EQ(got[1].bytes, std::string(100, 's'));
  EXPECT_EQ(receiver.counters(0).truncated, 1u);
}

TEST(UdpReceiver, counts_what_the_kernel_drops_when_the_receive_buffer_is_full) {
  UdpReceiver receiver{{{"A", {"127.0.0.1", 0, ""}, 2048}}};
  UdpSender sender{to(receiver)};
  constexpr std::uint64_t sent = 500;
  for (std::uint64_t i = 0; i < sent; ++i) ASSERT_EQ(sender.send(std::string(500, 'd')), UdpSent::sent);
  receiver.read_drops(0);
  const std::uint64_t dropped = receiver.counters(0).kernel_drops;
  EXPECT_GT(dropped, 0u);
  const std::uint64_t left = sent - dropped;
  EXPECT_EQ(take(receiver, left).size(), left);
  EXPECT_EQ(receiver.counters(0).kernel_drops, dropped);
  // The next datagram reports the same drops, which are not counted twice.
  ASSERT_EQ(sender.send("later"), UdpSent::sent);
  EXPECT_EQ(take(receiver, 1).size(), 1u);
  EXPECT_EQ(receiver.counters(0).kernel_drops, dropped);
}

TEST(UdpReceiver, learns_of_drops_from_the_next_datagram_without_a_call) {
  UdpReceiver receiver{{{"A", {"127.0.0.1", 0, ""}, 2048}}};
  UdpSender sender{to(receiver)};
  for (int i = 0; i < 500; ++i) ASSERT_EQ(sender.send(std::string(500, 'd')), UdpSent::sent);
  while (receiver.poll([](const UdpDatagram&) {}) != 0) continue;
  EXPECT_EQ(receiver.counters(0).kernel_drops, 0u);
  ASSERT_EQ(sender.send("later"), UdpSent::sent);
  EXPECT_EQ(take(receiver, 1).size(), 1u);
  EXPECT_EQ(receiver.counters(0).kernel_drops + receiver.counters(0).datagrams, 501u);
}

// Without permission to exceed net.core.rmem_max.
int open_with_a_large_buffer() {
  if (!testing::forbid_call(SYS_setsockopt, SO_RCVBUFFORCE)) return 9;
  const UdpReceiver receiver{{{"A", {"127.0.0.1", 0, ""}, 1 << 30}}};
  const UdpLine& line = receiver.lines()[0];
  const bool warned = line.warnings.size() == 1 &&
                      line.warnings[0].find("sysctl -w net.core.rmem_max=1073741824") != std::string::npos &&
                      line.warnings[0].find(std::to_string(line.receive_buffer) + " bytes") != std::string::npos;
  return warned ? 0 : 1;
}

TEST(UdpReceiverDeathTest, warns_of_a_receive_buffer_that_this_host_does_not_give) {
  EXPECT_EXIT(std::exit(open_with_a_large_buffer()), ::testing::ExitedWithCode(0), "");
}

TEST(UdpReceiver, refuses_with_line_and_fix) {
  UdpReceiver first{{{"A", {"127.0.0.1", 0, ""}, 0}}};
  const std::uint16_t port = to(first).port;
  const auto contains = [](const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  contains(why({{"B", {"127.0.0.1", port, ""}, 0}}),
           "line B: cannot listen on 127.0.0.1:" + std::to_string(port) + ": Address already in use");
  contains(why({{"A", {"192.0.2.1", 0, ""}, 0}}), "give an address of this host");
  contains(why({{"A", {"239.1.1.1", 0, "nosuch0"}, 0}}), "this host has no interface \"nosuch0\"; it has ");
  contains(why({{"A", {"239.1.1.1", 0, "nosuch0"}, 0}}), "lo");
  contains(why({{"A", {"127.0.0.1", 0, "lo"}, 0}}), "127.0.0.1 is not a multicast group");
  contains(why({}), "1 to 1024 lines");
  contains(why({{"A", {"127.0.0.1", 0, ""}, 0}}, {.batch = 0}), "1 to 1024 datagrams");
  contains(why({{"A", {"127.0.0.1", 0, ""}, 0}}, {.datagram_bytes = 1}), "64 to 65536");
}

TEST(UdpSender, is_refused_a_port_that_cannot_be) {
  EXPECT_THROW(UdpSender({"127.0.0.1", 0, ""}), UdpError);
  EXPECT_THROW(UdpSender({"239.1.1.1", 5000, "nosuch0"}), UdpError);
}

TEST(UdpSender, continues_after_nobody_received) {
  std::uint16_t port = 0;
  {
    const UdpReceiver gone{{{"A", {"127.0.0.1", 0, ""}, 0}}};
    port = to(gone).port;
  }
  UdpSender sender{{"127.0.0.1", port, ""}};
  for (int i = 0; i < 5; ++i) (void)sender.send("nobody");
  UdpReceiver receiver{{{"A", {"127.0.0.1", port, ""}, 0}}};
  EXPECT_EQ(sender.send("somebody"), UdpSent::sent);
  const auto got = take(receiver, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].bytes, "somebody");
}

}  // namespace
}  // namespace nfx
