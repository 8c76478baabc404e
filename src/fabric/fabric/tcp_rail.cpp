// Frames over one TCP connection, collected for sending, and received directly into their place.
//
//   | remote offset | length | number | region | check | payload |   little-endian, like both hosts
#include "nexusfix/fabric/rail_kinds.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/error_text.hpp"
#include "fabric/rendezvous.hpp"
#include "nexusfix/base/assert.hpp"

static_assert(std::endian::native == std::endian::little);

namespace nfx::fabric {
namespace {

constexpr std::size_t staging = 64 * 1024;
constexpr std::size_t gathered = 32;                          // frames per send
constexpr std::size_t sent_at_a_time = std::size_t{4} << 20;  // bytes per send
constexpr int receives_of_one_poll = 8;

struct TcpCard {
  std::uint32_t regions = 0;
  std::uint32_t reserved = 0;
  std::array<std::uint64_t, max_regions> sizes{};
};

}  // namespace

TcpRail::TcpRail(const TcpRailOptions& options)
    : options_(options),
      name_("tcp " + options.address.place),
      rendezvous_(std::make_unique<Rendezvous>(CardKind::tcp, options.address)),
      pending_(options.slots),
      staged_(std::make_unique<std::byte[]>(staging)) {
  peer_sizes_.reserve(max_regions);
}

std::expected<std::unique_ptr<TcpRail>, std::string> TcpRail::make(const TcpRailOptions& options) {
  if (!std::has_single_bit(options.slots) || options.slots < 64 || options.slots > 65536)
    return std::unexpected("tcp rail " + options.address.place + ": " +
                           out_of_range("slots", options.slots, "a power of two from 64 to 65536"));
  std::unique_ptr<TcpRail> rail{new TcpRail(options)};
  if (const auto listening = rail->rendezvous_->listen(); !listening)
    return std::unexpected("tcp rail: " + listening.error());
  rail->name_ = "tcp " + rail->rendezvous_->place();
  return rail;
}

TcpRail::~TcpRail() { close(); }

const std::string& TcpRail::place() const noexcept { return rendezvous_->place(); }

RailLimits TcpRail::limits() const noexcept {
  return {.slots = options_.slots, .arrivals = 4 * options_.slots, .longest_write = std::uint64_t{1} << 30};
}

std::uint32_t TcpRail::check_of(const Frame& frame) noexcept {
  const std::uint64_t mixed =
      (frame.remote_offset ^ std::uint64_t{frame.length} << 32 ^ frame.number ^ std::uint64_t{frame.region} << 24) *
      0x9e3779b97f4a7c15;
  return static_cast<std::uint32_t>(mixed >> 32);
}

std::expected<RegionIndex, std::string> TcpRail::add_region(const Region& region) {
  if (regions_.size() == max_regions) return std::unexpected("a rail has at most 16 regions");
  regions_.push_back(&region);
  return RegionIndex{static_cast<std::uint8_t>(regions_.size() - 1)};
}

void TcpRail::open(MonotonicTime) noexcept {
  NFX_REQUIRE(state_ == RailState::closed);
  TcpCard card{.regions = static_cast<std::uint32_t>(regions_.size())};
  for (std::size_t i = 0; i < regions_.size(); ++i) card.sizes[i] = regions_[i]->size();
  rendezvous_->begin(std::as_bytes(std::span{&card, 1}));
  state_ = RailState::opening;
}

void TcpRail::begin_stream() noexcept {
  socket_ = rendezvous_->socket();
  written_ = sent_ = done_ = 0;
  head_sent_ = staged_begin_ = staged_end_ = payload_have_ = 0;
  in_payload_ = gone_ = false;
  const auto set = [this](int option, std::uint32_t bytes) {
    const int value = static_cast<int>(bytes);
    if (bytes != 0) static_cast<void>(::setsockopt(socket_, SOL_SOCKET, option, &value, sizeof value));
  };
  set(SO_SNDBUF, options_.send_buffer);
  set(SO_RCVBUF, options_.receive_buffer);
}

void TcpRail::maintain(MonotonicTime now) noexcept {
  if (state_ != RailState::opening) return;  // when up, poll() finds the end of the stream
  rendezvous_->advance(now);
  if (!rendezvous_->complete()) {
    if (!rendezvous_->error().empty()) error_ = rendezvous_->error();
    return;
  }
  TcpCard card;
  if (rendezvous_->peer().bytes.size() != sizeof card) return close();
  std::memcpy(&card, rendezvous_->peer().bytes.data(), sizeof card);
  if (card.regions > max_regions) return close();
  peer_sizes_.assign(card.sizes.begin(), card.sizes.begin() + card.regions);
  begin_stream();
  state_ = RailState::up;
}

void TcpRail::close() noexcept {
  rendezvous_->end();
  socket_ = -1;
  state_ = RailState::closed;
}

void TcpRail::fail(int code, std::string_view what) noexcept {
  if (gone_) return;
  gone_ = true;
  gone_code_ = code;
  error_ = name_ + ": " + std::string{what};
  if (code != 0) error_ += ": " + system_text(code);
}

WriteResult TcpRail::try_write(const Write& write) noexcept {
  const auto local = static_cast<std::size_t>(write.local_region);
  const auto remote = static_cast<std::size_t>(write.remote_region);
  if (state_ != RailState::up || local >= regions_.size() || remote >= peer_sizes_.size()) [[unlikely]]
    return WriteResult::failed;
  if (!regions_[local]->contains(write.local_offset, write.length) || write.remote_offset > peer_sizes_[remote] ||
      write.length > peer_sizes_[remote] - write.remote_offset) [[unlikely]]
    return WriteResult::failed;
  if (written_ - done_ >= options_.slots) return WriteResult::again;
  Pending& pending = pending_[written_ & (options_.slots - 1)];
  pending.frame = {.remote_offset = write.remote_offset,
                   .length = write.length,
                   .number = write.number,
                   .region = static_cast<std::uint32_t>(remote)};
  pending.frame.check = check_of(pending.frame);
  pending.bytes = regions_[local]->data() + write.local_offset;
  pending.slot = write.slot;
  ++written_;
  if (!write.more) flush();
  return WriteResult::ok;
}

void TcpRail::flush() noexcept {
  while (sent_ != written_ && !gone_) {
    std::array<iovec, 2 * gathered> parts;
    std::size_t count = 0, bytes = 0, skip = head_sent_;
    for (std::uint64_t at = sent_; at != written_ && count < parts.size() && bytes < sent_at_a_time; ++at) {
      Pending& pending = pending_[at & (options_.slots - 1)];
      if (skip < sizeof(Frame))
        parts[count++] = {reinterpret_cast<std::byte*>(&pending.frame) + skip, sizeof(Frame) - skip};
      const std::size_t before = skip > sizeof(Frame) ? skip - sizeof(Frame) : 0;
      if (before < pending.frame.length)
        parts[count++] = {const_cast<std::byte*>(pending.bytes) + before, pending.frame.length - before};
      bytes += sizeof(Frame) + pending.frame.length - skip;
      skip = 0;
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno != EAGAIN && errno != EINTR) fail(errno, "send");
      return;
    }
    count_sent(static_cast<std::size_t>(sent));
    if (static_cast<std::size_t>(sent) < bytes) return;  // the kernel's buffer is full
  }
}

void TcpRail::count_sent(std::size_t bytes) noexcept {
  head_sent_ += bytes;
  while (sent_ != written_) {
    const std::size_t whole = sizeof(Frame) + pending_[sent_ & (options_.slots - 1)].frame.length;
    if (head_sent_ < whole) return;
    head_sent_ -= whole;
    ++sent_;
  }
  NFX_ASSERT(head_sent_ == 0);
}

// Receives the rest of the payload into its place, and later bytes into the staging buffer. False if nothing more is
// available.
bool TcpRail::receive_more() noexcept {
  NFX_ASSERT(staged_begin_ == staged_end_ || !in_payload_);
  if (staged_begin_ == staged_end_) staged_begin_ = staged_end_ = 0;
  if (staged_begin_ != 0) {  // less than a frame's header
    std::memmove(staged_.get(), staged_.get() + staged_begin_, staged_end_ - staged_begin_);
    staged_end_ -= staged_begin_;
    staged_begin_ = 0;
  }
  std::array<iovec, 2> parts;
  std::size_t count = 0, rest = 0;
  if (in_payload_) {
    rest = frame_.length - payload_have_;
    parts[count++] = {regions_[frame_.region]->data() + frame_.remote_offset + payload_have_, rest};
  }
  parts[count++] = {staged_.get() + staged_end_, staging - staged_end_};
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  const ssize_t got = ::recvmsg(socket_, &message, MSG_DONTWAIT);
  if (got <= 0) {
    if (got == 0) fail(ECONNRESET, "the peer ended the connection");
    if (got < 0 && errno != EAGAIN && errno != EINTR) fail(errno, "receive");
    return false;
  }
  const std::size_t placed = std::min(static_cast<std::size_t>(got), rest);
  payload_have_ += placed;
  staged_end_ += static_cast<std::size_t>(got) - placed;
  return true;
}

bool TcpRail::take_header() noexcept {
  if (staged_end_ - staged_begin_ < sizeof(Frame)) return false;
  std::memcpy(&frame_, staged_.get() + staged_begin_, sizeof frame_);
  if (frame_.check != check_of(frame_) || frame_.region >= regions_.size() ||
      !regions_[frame_.region]->contains(frame_.remote_offset, frame_.length)) {
    fail(EPROTO, "the peer wrote outside of a region");
    return false;
  }
  staged_begin_ += sizeof frame_;
  in_payload_ = true;
  const std::size_t there = std::min<std::size_t>(frame_.length, staged_end_ - staged_begin_);
  if (there != 0)
    std::memcpy(regions_[frame_.region]->data() + frame_.remote_offset, staged_.get() + staged_begin_, there);
  staged_begin_ += there;
  payload_have_ = there;
  return true;
}

// Parses the bytes received so far.
bool TcpRail::next_frame(Completion& out) noexcept {
  if (!in_payload_ && !take_header()) return false;
  if (payload_have_ < frame_.length) return false;
  in_payload_ = false;
  out = {.kind = CompletionKind::arrived, .value = frame_.number, .length = frame_.length};
  return true;
}

std::size_t TcpRail::poll(std::span<Completion> out) noexcept {
  if (state_ != RailState::up) return 0;
  flush();
  std::size_t count = 0;
  while (done_ != sent_ && count < out.size()) {
    out[count++] = {.kind = CompletionKind::done, .value = pending_[done_ & (options_.slots - 1)].slot};
    ++done_;
  }
  for (int receives = 0; count < out.size();) {
    if (next_frame(out[count])) {
      ++count;
    } else if ((gone_ && gone_code_ == EPROTO) || receives++ == receives_of_one_poll || !receive_more()) {
      break;
    }
  }
  // A failed send may be noticed while bytes of the peer are unread: they are taken first.
  if (gone_ && count < out.size()) {
    out[count++] = {.kind = CompletionKind::down, .code = gone_code_};
    close();
  }
  return count;
}

}  // namespace nfx::fabric
