// SoupBinTCP packets: their effects on the session, and incomplete packets.
#include "nexusfix/market/itch_transport.hpp"

#include <algorithm>
#include <cstring>

#include "base/enumerator_name.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::market {

namespace soup {

std::optional<std::uint64_t> read_number(std::span<const std::byte, 20> text) noexcept {
  const auto skip = [text](std::size_t i, char c) {
    while (i < text.size() && static_cast<char>(text[i]) == c) ++i;
    return i;
  };
  const std::size_t begin = skip(0, ' ');
  if (begin == text.size()) return std::nullopt;
  std::size_t i = skip(begin, '0');
  // 19 digits are always within 64 bits, and no session has more messages.
  if (text.size() - i > 19) return std::nullopt;
  std::uint64_t number = 0;
  for (; i < text.size(); ++i) {
    const unsigned digit = std::to_integer<unsigned>(text[i]) - '0';
    if (digit > 9) return std::nullopt;
    number = number * 10 + digit;
  }
  return number;
}

void write_number(std::uint64_t number, std::span<std::byte, 20> out) noexcept {
  std::ranges::fill(out, std::byte{' '});
  for (std::size_t i = out.size(); i-- > 0;) {
    out[i] = static_cast<std::byte>('0' + number % 10);
    number /= 10;
    if (number == 0) return;
  }
}

void write_header(char type, std::size_t payload_size, std::span<std::byte, soup_header_size> out) noexcept {
  NFX_ASSERT(payload_size < 65535);
  store_big_endian(out.data(), static_cast<std::uint16_t>(payload_size + 1));
  out[2] = static_cast<std::byte>(type);
}

}  // namespace soup

namespace {

void write_text(std::string_view text, std::span<std::byte> out) noexcept {
  NFX_REQUIRE(text.size() <= out.size());
  std::ranges::fill(out, std::byte{' '});
  std::ranges::transform(text, out.begin(), [](char c) { return static_cast<std::byte>(c); });
}

constexpr std::array heartbeat_packet{std::byte{0}, std::byte{1}, static_cast<std::byte>(soup::client_heartbeat)};
constexpr std::array logout_packet{std::byte{0}, std::byte{1}, static_cast<std::byte>(soup::logout_request)};

}  // namespace

std::string_view to_string(SoupState state) noexcept { return enumerator_name<' '>(state); }

std::string_view to_string(SoupFailure failure) noexcept { return enumerator_name<' '>(failure); }

SoupClient::SoupClient(const SoupOptions& options)
    : options_(options), kept_(std::make_unique<std::byte[]>(soup_max_packet_size)) {}

std::span<const std::byte> SoupClient::begin(const SoupLogin& login, MonotonicTime now) noexcept {
  state_ = SoupState::logging_in;
  failure_ = SoupFailure::none;
  kept_size_ = 0;
  heard_ = sent_ = now;
  due_ = now + std::min(options_.heartbeat, options_.silence_timeout);
  const std::span<std::byte, soup::login_request_size> out{login_};
  soup::write_header(soup::login_request, out.size() - soup_header_size, out.first<soup_header_size>());
  write_text(login.username, out.subspan<3, 6>());
  write_text(login.password, out.subspan<9, 10>());
  write_text(login.session, out.subspan<19, 10>());
  soup::write_number(login.sequence, out.subspan<29, 20>());
  return out;
}

void SoupClient::disconnected() noexcept {
  if (reads()) state_ = SoupState::closed;
  kept_size_ = 0;
  due_ = MonotonicTime::max();
}

// Whether a heartbeat is to be sent now.
bool SoupClient::heartbeat_due(MonotonicTime now) noexcept {
  if (!reads()) {
    due_ = MonotonicTime::max();
    return false;
  }
  if (now - heard_ >= options_.silence_timeout) {
    fail(SoupFailure::silence);
    return false;
  }
  const bool send = now - sent_ >= options_.heartbeat;
  if (send) sent_ = now;
  due_ = std::min(sent_ + options_.heartbeat, heard_ + options_.silence_timeout);
  return send;
}

std::span<const std::byte> SoupClient::heartbeat_bytes() noexcept { return heartbeat_packet; }
std::span<const std::byte> SoupClient::logout_bytes() noexcept { return logout_packet; }

std::size_t SoupClient::complete_kept(std::span<const std::byte> bytes) noexcept {
  std::size_t taken = 0;
  if (kept_size_ < 2) {
    NFX_ASSERT(kept_size_ == 1);
    if (bytes.empty()) return 0;
    kept_[kept_size_++] = bytes[taken++];
  }
  const std::size_t size = 2U + load_big_endian<std::uint16_t>(kept_.get());
  NFX_ASSERT(kept_size_ <= size && size <= soup_max_packet_size);
  const std::size_t more = std::min(size - kept_size_, bytes.size() - taken);
  if (more != 0) std::memcpy(kept_.get() + kept_size_, bytes.data() + taken, more);
  kept_size_ += more;
  return taken + more;
}

void SoupClient::keep(std::span<const std::byte> bytes) noexcept {
  NFX_ASSERT(bytes.size() < soup_max_packet_size);
  if (!bytes.empty()) std::memcpy(kept_.get(), bytes.data(), bytes.size());
  kept_size_ = bytes.size();
}

void SoupClient::take_control(std::span<const std::byte> packet) noexcept {
  if (packet.size() < soup_header_size) return fail(SoupFailure::malformed);
  const std::span<const std::byte> payload = packet.subspan(soup_header_size);
  const bool logged_in = state_ == SoupState::logged_in;
  switch (static_cast<char>(packet[2])) {
    case soup::debug:
    case soup::server_heartbeat: return;
    case soup::login_accepted: return logged_in ? fail(SoupFailure::unexpected) : accept(payload);
    case soup::login_rejected: return logged_in ? fail(SoupFailure::unexpected) : reject(payload);
    case soup::end_of_session: state_ = SoupState::ended; return;
    // Messages without a number are not part of the stream.
    case soup::unsequenced: return logged_in ? void() : fail(SoupFailure::unexpected);
    default: return fail(SoupFailure::unexpected);
  }
}

void SoupClient::accept(std::span<const std::byte> payload) noexcept {
  if (payload.size() != soup::login_accepted_size - soup_header_size) return fail(SoupFailure::malformed);
  const std::optional<std::uint64_t> next = soup::read_number(payload.subspan<10, 20>());
  if (!next) return fail(SoupFailure::malformed);
  std::memcpy(session_.data(), payload.data(), session_.size());
  next_ = *next;
  state_ = SoupState::logged_in;
}

void SoupClient::reject(std::span<const std::byte> payload) noexcept {
  if (payload.size() != 1) return fail(SoupFailure::malformed);
  switch (static_cast<char>(payload[0])) {
    case 'A': return fail(SoupFailure::not_authorised);
    case 'S': return fail(SoupFailure::session_unavailable);
    default: return fail(SoupFailure::rejected);
  }
}

void SoupClient::fail(SoupFailure failure) noexcept {
  state_ = SoupState::failed;
  failure_ = failure;
}

}  // namespace nfx::market
