// The states of the websocket and of the snapshot requests.
#include "nexusfix/live/websocket_handler.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/jitter.hpp"
#include "base/text.hpp"
#include "live/check_added.hpp"
#include "market/http_answer.hpp"
#include "market/websocket.hpp"
#include "nexusfix/base/assert.hpp"

namespace nfx::market {

namespace {

JsonFeedOptions sized_for(const WebsocketFeedOptions& options) {
  JsonFeedOptions feed = options.feed;
  feed.recovery.instruments = static_cast<std::uint32_t>(std::max<std::size_t>(options.instruments.size(), 1));
  return feed;
}

// The streams of all instruments with what is between two of them.
std::string joined_streams(const std::vector<WebsocketInstrument>& instruments, std::string_view between) {
  std::string text;
  for (const WebsocketInstrument& instrument : instruments) {
    std::string name;
    for (const char c : instrument.symbol) name += lower(c);
    if (!text.empty()) text += between;
    text += name + (instrument.book == JsonBook::depth ? "@depth@100ms" : "@bookTicker");
    text += between;
    text += name + "@trade";
  }
  return text;
}

constexpr std::size_t frame_header_max = 14;

}  // namespace

std::string stream_path(const std::vector<WebsocketInstrument>& instruments) {
  return "/stream?streams=" + joined_streams(instruments, "/");
}

std::string subscribe_text(const std::vector<WebsocketInstrument>& instruments) {
  return R"({"method":"SUBSCRIBE","params":[")" + joined_streams(instruments, R"(",")") + R"("],"id":1})";
}

struct WebsocketHandler::Parts final : FeedOutput {
  Parts(const WebsocketFeedOptions& options, EventOutput events, FeedPorts& ports);

  void event(const Event& event) noexcept override { events_.event(event); }
  void request_snapshot(InstrumentIndex index) noexcept override;

  enum class Link : std::uint8_t { down, connecting, shaking, open };
  enum class Request : std::uint8_t { none, connecting, waiting };

  void take(const FeedInput& input);
  [[nodiscard]] MonotonicTime due_at() const noexcept;
  void run_due(Instant now);
  void take_stream(const FeedInput& input, Instant now);
  void take_snapshot(const FeedInput& input, Instant now);
  void begin_handshake(const FeedInput& input, Instant now);
  void read_stream(std::string_view bytes, Instant now);
  void on_event(const WebsocketEvent& event, Instant now);
  void flush() noexcept;
  void fail_stream(Instant now, WebsocketError error);
  void drop_stream(Instant now);
  void next_snapshot(Instant now);
  void send_snapshot_request() noexcept;
  void finish_snapshot(Instant now);
  void end_snapshot() noexcept;
  void update_state() noexcept;
  [[nodiscard]] FeedState find_state() const noexcept;

  WebsocketFeedOptions options_;
  FeedPorts& ports_;
  FeedClock clock_;
  EventOutput events_;
  JsonFeed feed_;
  WebsocketClient client_;
  HttpAnswer answer_;
  std::string subscribe_text_;                  // empty: the path subscribes
  std::vector<std::string> snapshot_requests_;  // by instrument: the whole request
  std::vector<InstrumentIndex> wanted_;         // snapshots, the next one first
  std::vector<bool> is_wanted_;
  WebsocketMask mask_{};
  WebsocketFeedCounters counters_;
  WebsocketError error_ = WebsocketError::none;
  FeedState state_ = FeedState::waiting;
  Link link_ = Link::down;
  Request request_ = Request::none;
  MonotonicTime next_try_ = MonotonicTime::min();
  MonotonicTime since_{};  // of the link's state
  MonotonicTime heard_{};
  MonotonicTime requested_{};
  Duration wait_{};
  bool pinged_ = false;
  bool useful_ = false;  // a message has come on this connection
  bool began_ = false;   // a connection has been open
  bool closed_by_server_ = false;
};

WebsocketHandler::Parts::Parts(const WebsocketFeedOptions& options, EventOutput events, FeedPorts& ports)
    : options_(options),
      ports_(ports),
      events_(events),
      feed_(sized_for(options), *this),
      client_(WebsocketOptions{options.limits.message_size, options.limits.handshake_size, options.limits.output_size,
                               options.limits.frames}),
      answer_(HttpLimits{options.limits.http_head, options.limits.http_body}),
      is_wanted_(options.instruments.size()) {
  if (options.subscribe) subscribe_text_ = subscribe_text(options.instruments);
  if (options_.path.empty()) options_.path = options.subscribe ? "/stream" : stream_path(options.instruments);
  if (subscribe_text_.size() + frame_header_max > options.limits.output_size) {
    throw std::invalid_argument("the subscription of " + std::to_string(options.instruments.size()) +
                                " instruments has " + std::to_string(subscribe_text_.size()) +
                                " bytes, and WebsocketLimits::output_size is " +
                                std::to_string(options.limits.output_size) + ": name fewer, or raise it");
  }
  if (!client_.connect({.host = options_.host, .path = options_.path})) {
    throw std::invalid_argument("the websocket's path \"" + options_.path + "\" or host \"" + options_.host +
                                "\" is too long or has characters that are not allowed");
  }
  for (const WebsocketInstrument& instrument : options.instruments) {
    check_added(feed_.add(instrument.symbol, instrument.book, instrument.quantity_scale), snapshot_requests_.size(),
                instrument.symbol);
    snapshot_requests_.push_back("GET " + options_.snapshot_path + "?symbol=" + instrument.symbol +
                                 "&limit=" + std::to_string(options_.snapshot_levels) + " HTTP/1.1\r\nHost: " +
                                 options_.snapshot_host + "\r\nAccept: application/json\r\nConnection: close\r\n\r\n");
  }
  wanted_.reserve(options.instruments.size());
  ports_.random(mask_);
}

MonotonicTime WebsocketHandler::Parts::due_at() const noexcept {
  MonotonicTime due = MonotonicTime::max();
  switch (link_) {
    case Link::down: return next_try_;
    case Link::connecting:
    case Link::shaking: return since_ + options_.connect_timeout;
    case Link::open: due = heard_ + (pinged_ ? options_.silence_timeout : options_.ping_after); break;
  }
  due = std::min(due, feed_.due_at());
  if (request_ != Request::none) due = std::min(due, requested_ + options_.snapshot_timeout);
  return due;
}

void WebsocketHandler::Parts::take(const FeedInput& input) {
  const Instant now = clock_.at(input.at);
  if (now.monotonic >= due_at()) [[unlikely]]
    run_due(now);
  if (input.kind != InputKind::clock) {
    input.line == WebsocketLines::stream ? take_stream(input, now) : take_snapshot(input, now);
  }
  const bool was_live = state_ == FeedState::live;
  const bool unchanged = was_live && link_ == Link::open && feed_.waiting() == 0;
  if (!unchanged) [[unlikely]]
    update_state();
}

void WebsocketHandler::Parts::run_due(Instant now) {
  switch (link_) {
    case Link::down:
      link_ = Link::connecting;
      since_ = now.monotonic;
      return ports_.connect(WebsocketLines::stream);
    case Link::connecting:
    case Link::shaking: return fail_stream(now, WebsocketError::none);
    case Link::open: break;
  }
  if (now.monotonic >= heard_ + options_.silence_timeout) return fail_stream(now, WebsocketError::none);
  if (!pinged_ && now.monotonic >= heard_ + options_.ping_after) {
    pinged_ = true;
    counters_.pings_sent += client_.send_ping("nfx", mask_) ? 1 : 0;
    flush();
  }
  if (request_ != Request::none && now.monotonic >= requested_ + options_.snapshot_timeout) {
    ++counters_.snapshots_failed;
    ports_.close(WebsocketLines::snapshot);
    end_snapshot();
  }
  feed_.tick(now.monotonic);
  next_snapshot(now);
}

void WebsocketHandler::Parts::take_stream(const FeedInput& input, Instant now) {
  switch (input.kind) {
    case InputKind::opened: return begin_handshake(input, now);
    case InputKind::received: return read_stream(input.bytes, now);
    case InputKind::closed: return fail_stream(now, WebsocketError::none);
    case InputKind::clock:
    case InputKind::datagram: return;
  }
}

void WebsocketHandler::Parts::begin_handshake(const FeedInput& input, Instant now) {
  if (link_ != Link::connecting) return;
  WebsocketRequest request{.host = options_.host, .path = options_.path};
  std::memcpy(request.key.data(), input.bytes.data(), std::min(input.bytes.size(), request.key.size()));
  const bool fits = client_.connect(request);
  NFX_REQUIRE(fits);  // it did in the constructor
  link_ = Link::shaking;
  heard_ = now.monotonic;
  pinged_ = useful_ = false;
  flush();
}

void WebsocketHandler::Parts::read_stream(std::string_view bytes, Instant now) {
  if (link_ != Link::shaking && link_ != Link::open) return;
  heard_ = now.monotonic;
  pinged_ = false;
  while (!bytes.empty()) {
    const std::span<char> space = client_.space();
    const std::size_t size = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), size);
    client_.received(size);
    bytes.remove_prefix(size);
    for (;;) {
      const WebsocketEvent event = client_.next(mask_);
      if (event.kind == WebsocketEventKind::none) break;
      on_event(event, now);
      if (link_ == Link::down) return;
    }
  }
  if (!client_.to_send().empty()) [[unlikely]]
    flush();
}

void WebsocketHandler::Parts::on_event(const WebsocketEvent& event, Instant now) {
  switch (event.kind) {
    case WebsocketEventKind::text:
    case WebsocketEventKind::binary: {
      ++counters_.messages;
      useful_ = true;
      if (options_.tap != nullptr) [[unlikely]]
        options_.tap->message(event.data, now.utc);
      if (feed_.message(JsonBytes{event.data.data(), event.data.size(), event.readable}, now) != JsonError::none) {
        ++counters_.unread;
      }
      return;
    }
    case WebsocketEventKind::open:
      ++counters_.opened;
      link_ = Link::open;
      began_ = true;
      if (!subscribe_text_.empty()) client_.send_text(subscribe_text_, mask_);
      return flush();
    case WebsocketEventKind::ping: ++counters_.pings_received; return;
    case WebsocketEventKind::closed:
      ++counters_.ended;
      closed_by_server_ = true;
      flush();
      return drop_stream(now);
    case WebsocketEventKind::failed: flush(); return fail_stream(now, client_.error());
    case WebsocketEventKind::pong:
    case WebsocketEventKind::none: return;
  }
}

void WebsocketHandler::Parts::flush() noexcept {
  const std::string_view bytes = client_.to_send();
  if (bytes.empty()) return;
  if (ports_.send(WebsocketLines::stream, bytes)) client_.sent(bytes.size());
  ports_.random(mask_);
}

void WebsocketHandler::Parts::fail_stream(Instant now, WebsocketError error) {
  if (link_ == Link::down) return;
  ++counters_.failed;
  if (error != WebsocketError::none) error_ = error;
  drop_stream(now);
}

// The next attempt is later each time, until a connection has brought something. The time of the failure is different
// for each client.
void WebsocketHandler::Parts::drop_stream(Instant now) {
  if (link_ == Link::down) return;
  const bool was_open = link_ == Link::open;
  ports_.close(WebsocketLines::stream);
  link_ = Link::down;
  wait_ = useful_ ? options_.retry_min : std::clamp(wait_ * 2, options_.retry_min, options_.retry_max);
  useful_ = false;
  next_try_ = now.monotonic + Jitter{static_cast<std::uint64_t>(now.utc.time_since_epoch().count())}.spread(wait_);
  if (request_ != Request::none) ports_.close(WebsocketLines::snapshot);
  request_ = Request::none;
  wanted_.clear();
  is_wanted_.assign(is_wanted_.size(), false);
  if (was_open) feed_.disconnected(now);
}

void WebsocketHandler::Parts::request_snapshot(InstrumentIndex index) noexcept {
  const std::size_t place = std::to_underlying(index);
  if (is_wanted_[place]) return;
  is_wanted_[place] = true;
  wanted_.push_back(index);  // within its capacity
}

void WebsocketHandler::Parts::next_snapshot(Instant now) {
  if (link_ != Link::open || request_ != Request::none || wanted_.empty()) return;
  ++counters_.snapshots_requested;
  request_ = Request::connecting;
  requested_ = now.monotonic;
  ports_.connect(WebsocketLines::snapshot);
}

void WebsocketHandler::Parts::take_snapshot(const FeedInput& input, Instant now) {
  if (request_ == Request::none) return;
  switch (input.kind) {
    case InputKind::opened: return send_snapshot_request();
    case InputKind::received:
      if (answer_.received(input.bytes) != HttpState::reading) finish_snapshot(now);
      return;
    case InputKind::closed: (void)answer_.ended(); return finish_snapshot(now);
    case InputKind::clock:
    case InputKind::datagram: return;
  }
}

void WebsocketHandler::Parts::send_snapshot_request() noexcept {
  if (request_ != Request::connecting) return;
  request_ = Request::waiting;
  answer_.begin();
  ports_.send(WebsocketLines::snapshot, snapshot_requests_[std::to_underlying(wanted_.front())]);
}

void WebsocketHandler::Parts::finish_snapshot(Instant now) {
  const InstrumentIndex index = wanted_.front();
  ports_.close(WebsocketLines::snapshot);
  const bool complete = request_ == Request::waiting && answer_.state() == HttpState::complete;
  if (options_.tap != nullptr && complete && answer_.status() == 200) {
    options_.tap->snapshot(feed_.symbol(index), answer_.body().text());
  }
  if (!complete) {
    ++counters_.snapshots_failed;
  } else if (answer_.status() == 200 && feed_.snapshot(index, answer_.body(), now) == JsonError::none) {
    // Applied, or too old: then it is requested again.
  } else {
    ++counters_.snapshots_refused;
    feed_.snapshot_refused(index, now.monotonic);
  }
  end_snapshot();
  next_snapshot(now);
}

void WebsocketHandler::Parts::end_snapshot() noexcept {
  request_ = Request::none;
  is_wanted_[std::to_underlying(wanted_.front())] = false;
  wanted_.erase(wanted_.begin());
}

void WebsocketHandler::Parts::update_state() noexcept { state_ = find_state(); }

FeedState WebsocketHandler::Parts::find_state() const noexcept {
  if (link_ != Link::open) return began_ ? FeedState::stale : FeedState::waiting;
  bool recovering = false;
  for (std::uint32_t i = 0; i < options_.instruments.size(); ++i) {
    switch (feed_.state(InstrumentIndex{i})) {
      case InstrumentState::stale: return FeedState::stale;
      case InstrumentState::recovering: recovering = true; break;
      case InstrumentState::live: break;
    }
  }
  return recovering ? FeedState::recovering : FeedState::live;
}

WebsocketHandler::WebsocketHandler(const WebsocketFeedOptions& options, EventOutput events, FeedPorts& ports)
    : parts_(std::make_unique<Parts>(options, events, ports)) {}
WebsocketHandler::~WebsocketHandler() = default;

void WebsocketHandler::take(const FeedInput& input) { parts_->take(input); }
MonotonicTime WebsocketHandler::due_at() const noexcept { return parts_->due_at(); }
FeedState WebsocketHandler::state() const noexcept { return parts_->state_; }
const JsonFeed& WebsocketHandler::feed() const noexcept { return parts_->feed_; }
const WebsocketFeedCounters& WebsocketHandler::counters() const noexcept { return parts_->counters_; }
std::string_view WebsocketHandler::failure() const noexcept {
  return parts_->error_ == WebsocketError::none ? std::string_view{} : to_string(parts_->error_);
}
bool WebsocketHandler::closed_by_server() const noexcept { return parts_->closed_by_server_; }

}  // namespace nfx::market
