// Captures by libpcap, which reads both formats from any stream of bytes.
#include "decode/capture.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>

#include "base/error_text.hpp"
#include "decode/tcp_messages.hpp"

namespace nfx::app {
namespace {

struct CloseCapture {
  void operator()(pcap_t* capture) const noexcept { pcap_close(capture); }
};

class CaptureSource final : public MessageSource {
 public:
  CaptureSource(std::unique_ptr<ByteStream> bytes, std::string_view first, const LogFile& file,
                const LogReaderHooks& hooks)
      : bytes_(std::move(bytes)),
        unread_(first),
        name_(file.name),
        hooks_(hooks),
        messages_(name_, [this](const std::string& text) {
          if (hooks_.on_note) hooks_.on_note(text);
        }) {
    std::FILE* stream = ::fopencookie(this, "rb", {.read = read, .write = nullptr, .seek = nullptr, .close = nullptr});
    if (stream == nullptr) throw std::runtime_error(cannot("read", name_, errno));
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    capture_.reset(pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, error.data()));
    if (!capture_) {
      std::fclose(stream);
      throw std::runtime_error(cannot("read", name_, error.data()));
    }
    const int link = pcap_datalink(capture_.get());
    constexpr std::array known{LinkType::null,         LinkType::ethernet, LinkType::raw_bsd,
                               LinkType::raw,          LinkType::loop,     LinkType::ipv4,
                               LinkType::linux_cooked, LinkType::ipv6,     LinkType::linux_cooked_v2};
    link_ = static_cast<LinkType>(link);
    if (std::ranges::find(known, link_) == known.end()) {
      const char* kind = pcap_datalink_val_to_name(link);
      throw std::runtime_error(cannot("read", name_,
                                      "its network is " + (kind == nullptr ? std::to_string(link) : std::string{kind}) +
                                          "; expected Ethernet, IP, loopback or a Linux cooked capture"));
    }
  }

  bool next(LogMessage& message) override {
    while (!messages_.next(message)) {
      if (ended_ || !read_packet()) {
        ended_ = true;
        if (!messages_.finish_next()) return false;
      }
    }
    return true;
  }

 private:
  static ssize_t read(void* self, char* out, std::size_t size) {
    CaptureSource& source = *static_cast<CaptureSource*>(self);
    try {
      if (source.unread_.empty()) source.unread_ = source.bytes_->next();
    } catch (const std::exception& error) {
      source.error_ = error.what();
      return -1;
    }
    const std::size_t count = std::min(size, source.unread_.size());
    std::memcpy(out, source.unread_.data(), count);
    source.unread_.remove_prefix(count);
    if (source.hooks_.on_read) source.hooks_.on_read(count);
    return static_cast<ssize_t>(count);
  }

  bool read_packet() {
    pcap_pkthdr* header = nullptr;
    const u_char* data = nullptr;
    const int result = pcap_next_ex(capture_.get(), &header, &data);
    if (!error_.empty()) throw std::runtime_error(error_);
    if (result == PCAP_ERROR && hooks_.on_note)
      hooks_.on_note(name_ + ": " + pcap_geterr(capture_.get()) + ", after packet " + std::to_string(packet_));
    if (result != 1) return false;
    ++packet_;
    const auto segment = read_tcp_segment(link_, {reinterpret_cast<const char*>(data), header->caplen});
    // The precision makes tv_usec nanoseconds.
    const UtcTime time{std::chrono::seconds{header->ts.tv_sec} + std::chrono::nanoseconds{header->ts.tv_usec}};
    if (segment) messages_.add(*segment, time, packet_);
    return true;
  }

  std::unique_ptr<ByteStream> bytes_;
  std::string_view unread_;
  std::string name_;
  const LogReaderHooks& hooks_;
  std::string error_;  // of reading bytes, which libpcap cannot tell
  std::unique_ptr<pcap_t, CloseCapture> capture_;
  LinkType link_{};
  std::uint64_t packet_ = 0;
  TcpMessages messages_;
  bool ended_ = false;
};

}  // namespace

std::unique_ptr<MessageSource> open_capture(std::unique_ptr<ByteStream> bytes, std::string_view first,
                                            const LogFile& file, const LogReaderHooks& hooks) {
  return std::make_unique<CaptureSource>(std::move(bytes), first, file, hooks);
}

}  // namespace nfx::app
