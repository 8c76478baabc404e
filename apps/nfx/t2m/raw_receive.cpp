// The baseline of a run: a loop around recvmsg() on the run's socket, with the kernel's stamps that every receiver of
// that socket has. It reads a datagram's number and nothing else: no feed, no book, no model.
#include <time.h>
// <linux/errqueue.h> uses timespec without including it.
#include <linux/errqueue.h>
#include <sys/socket.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/clocks.hpp"
#include "nexusfix/base/assert.hpp"
#include "nexusfix/market/itch.hpp"
#include "nexusfix/market/itch_transport.hpp"
#include "t2m/receive.hpp"

namespace nfx::app::t2m {
namespace {

class RawDatagrams final : public Receiver {
 public:
  explicit RawDatagrams(const ReceiverParts& parts)
      : mode_(parts.options.mode),
        socket_(*parts.sockets.udp()),
        messages_(parts.messages),
        feed_(parts.options.messages.feed),
        measurement_(feed_, messages_) {
    NFX_REQUIRE(row_of(feed_).datagrams);
  }

  void receive(PublisherProcess& publisher, demo::VenueProcess*) override {
    begin(measurement_, publisher);
    receive_alone(measurement_, mode_, [this] { return turn(); }, [this](Duration longest) { socket_.wait(longest); });
  }
  [[nodiscard]] Measurement& measurement() noexcept override { return measurement_; }
  void add_to(RunResult& result) const override { result.anomalies = measurement_.misfits(); }

 private:
  bool turn() {
    iovec space{bytes_.data(), bytes_.size()};
    msghdr message{};
    message.msg_iov = &space;
    message.msg_iovlen = 1;
    message.msg_control = control_.data();
    message.msg_controllen = control_.size();
    measurement_.poll_begins();
    const ssize_t size = ::recvmsg(socket_.descriptor(0), &message, MSG_DONTWAIT);
    if (size < 0) {
      if (errno != EAGAIN && errno != EINTR)
        throw std::system_error{errno, std::generic_category(), "recvmsg on the run's socket"};
      measurement_.poll_ends({});
      return false;
    }
    measurement_.read_returned();
    const UtcTime kernel = stamp_of(message);
    const std::uint64_t number = number_of(static_cast<std::size_t>(size));
    measurement_.count(kernel == UtcTime{} ? StampSource::none : StampSource::kernel);
    measurement_.unread(kernel, number);
    const auto sent = messages_.packets();
    if (number == 0 || number > sent.size() || sent[number - 1].size != static_cast<std::size_t>(size))
      measurement_.count_misfit();
    measurement_.poll_ends(read_clocks());
    return true;
  }
  static UtcTime stamp_of(msghdr& message) noexcept {
    for (cmsghdr* at = CMSG_FIRSTHDR(&message); at != nullptr; at = CMSG_NXTHDR(&message, at)) {
      if (at->cmsg_level != SOL_SOCKET || at->cmsg_type != SCM_TIMESTAMPING) continue;
      scm_timestamping stamps;
      std::memcpy(&stamps, CMSG_DATA(at), sizeof stamps);
      return UtcTime{std::chrono::seconds{stamps.ts[0].tv_sec} + Duration{stamps.ts[0].tv_nsec}};
    }
    return {};
  }
  // The number of the message in the datagram: each datagram of a run has one. 0: too short for one.
  [[nodiscard]] std::uint64_t number_of(std::size_t size) const noexcept {
    constexpr std::size_t mold_number = 10, dbn_number_from_end = 4;
    if (size < nfx::market::mold_header_size) return 0;
    if (feed_ == FeedKind::itch) return nfx::market::load_big_endian<std::uint64_t>(bytes_.data() + mold_number);
    std::uint32_t number;
    std::memcpy(&number, bytes_.data() + size - dbn_number_from_end, sizeof number);
    return std::endian::native == std::endian::little ? number : std::byteswap(number);
  }

  WaitMode mode_;
  UdpReceiver& socket_;
  const Messages& messages_;
  FeedKind feed_;
  Measurement measurement_;
  std::array<std::byte, 2048> bytes_{};
  alignas(cmsghdr) std::array<char, 256> control_{};
};

}  // namespace

std::unique_ptr<Receiver> make_raw_receiver(const ReceiverParts& parts) {
  return std::make_unique<RawDatagrams>(parts);
}

}  // namespace nfx::app::t2m
