// Subscriptions, and which messages each connection gets.
#include "publish/websocket_venue.hpp"

#include <algorithm>
#include <utility>

namespace nfx::market {
namespace {

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

std::string_view parameter(std::string_view target, std::string_view name) {
  const std::string wanted = std::string{name} + '=';
  std::string_view query = target.substr(std::min(target.find('?') + 1, target.size()));
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    if (query.starts_with(wanted)) return query.substr(wanted.size(), end - wanted.size());
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return {};
}

constexpr std::size_t streams_max = 64 * 1024;  // bytes of their names, of one connection

StreamServerOptions server_options(const WebsocketVenueOptions& options) {
  StreamServerOptions server{.listen = options.listen, .unsent = options.unsent};
  server.socket.tls = options.tls;
  return server;
}

}  // namespace

WebsocketVenue::WebsocketVenue(const WebsocketVenueOptions& options)
    : options_(options), server_(server_options(options)), random_(options.seed) {
  for (std::uint32_t i = 0; i < options.names; ++i) {
    names_.emplace_back(depth_name(i), options.seed * 1000 + i, options.levels);
  }
}

void WebsocketVenue::publish(UtcTime at) {
  if (names_.empty()) return;
  DepthGenerator& name = names_[random_() % names_.size()];
  ++counters_.messages;
  if (random_() % 16 == 0) return send_stream(name.symbol(), "@trade", name.trade(at));
  const std::string update = name.update(at);
  const bool lost = happens(options_.left_out);
  counters_.left_out += lost ? 1u : 0u;
  if (!lost) send_stream(name.symbol(), "@depth", update);
  send_stream(name.symbol(), "@bookTicker", name.ticker());
}

void WebsocketVenue::send(std::string_view symbol, std::string_view text) {
  ++counters_.messages;
  const bool trade = text.contains("\"e\":\"trade\"") || text.contains("\"e\":\"aggTrade\"");
  const bool depth = text.contains("\"e\":\"depthUpdate\"");
  send_stream(symbol, trade ? "@trade" : depth ? "@depth" : "@bookTicker", text);
}

void WebsocketVenue::send_stream(std::string_view symbol, std::string_view stream, std::string_view text) {
  const std::string wanted = '/' + lower(symbol) + lower(stream);
  const std::size_t pieces = happens(options_.fragmented) ? 2 + random_() % 5 : 1;
  std::vector<ConnectionId> to;
  for (const auto& [id, subscriber] : subscribers_) {
    if (subscriber.streams.contains(wanted)) to.push_back(id);
  }
  for (const ConnectionId id : to) {
    std::string message;
    const bool combined = subscribers_[id].combined;
    if (combined) message = "{\"stream\":\"" + wanted.substr(1) + "\",\"data\":";
    message += text;
    if (combined) message += '}';
    std::string frames;
    append_fragments(frames, message, pieces);
    counters_.sent += server_.send(id, frames) ? 1u : 0u;
  }
}

void WebsocketVenue::opened(ConnectionId id) { peers_[id] = {}; }

void WebsocketVenue::closed(ConnectionId id) {
  peers_.erase(id);
  subscribers_.erase(id);
}

void WebsocketVenue::received(ConnectionId id, std::string_view bytes) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  WebsocketPeer& peer = found->second;
  peer.received(bytes);
  for (;;) {
    std::string_view data;
    std::string frame;
    switch (peer.next(data)) {
      case WebsocketPeerEvent::none: return;
      case WebsocketPeerEvent::get: get(id, data); return;
      case WebsocketPeerEvent::upgrade:
        server_.send(id, peer.answer());
        subscribe(id, data);
        break;
      case WebsocketPeerEvent::ping:
        append_frame(frame, WebsocketOpcode::pong, data);
        server_.send(id, frame);
        break;
      case WebsocketPeerEvent::text: subscribe_more(id, data); break;
      case WebsocketPeerEvent::pong: break;
      case WebsocketPeerEvent::close:
        append_frame(frame, WebsocketOpcode::close, data);
        server_.send(id, frame);
        server_.close(id);
        closed(id);
        return;
      case WebsocketPeerEvent::failed:
        server_.close(id);
        closed(id);
        return;
    }
  }
}

// "/stream?streams=btcusdt@depth@100ms/btcusdt@trade" or "/ws/btcusdt@depth".
void WebsocketVenue::subscribe(ConnectionId id, std::string_view target) {
  Subscriber subscriber;
  subscriber.combined = target.starts_with("/stream");
  subscriber.streams = '/' + lower(subscriber.combined ? parameter(target, "streams")
                                                       : target.substr(std::min<std::size_t>(4, target.size())));
  subscribers_[id] = subscriber;
  ++counters_.subscribers;
}

// {"method":"SUBSCRIBE","params":["btcusdt@depth@100ms"],"id":1}, without white space.
void WebsocketVenue::subscribe_more(ConnectionId id, std::string_view request) {
  constexpr std::string_view begin = R"({"method":"SUBSCRIBE","params":[")";
  const auto answer = [&](const std::string& text) {
    std::string frame;
    append_frame(frame, WebsocketOpcode::text, text);
    server_.send(id, frame);
  };
  const std::size_t end = request.find(R"("],"id":)");
  if (!request.starts_with(begin) || end == std::string_view::npos) {
    ++counters_.refused_requests;
    return answer(R"({"code":2,"msg":"Invalid request"})");
  }
  std::string more;
  for (std::string_view rest = request.substr(begin.size(), end - begin.size()); !rest.empty();) {
    const std::string_view stream = rest.substr(0, rest.find('"'));
    more += '/' + lower(stream);
    rest.remove_prefix(std::min(stream.size() + 3, rest.size()));  // and ","
  }
  std::string& streams = subscribers_[id].streams;
  if (streams.size() + more.size() > streams_max) {
    ++counters_.refused_requests;
    return answer(R"({"code":3,"msg":"Too many streams"})");
  }
  streams += more;
  answer(R"({"result":null,"id":)" + std::string{request.substr(end + 8)});
}

void WebsocketVenue::get(ConnectionId id, std::string_view target) {
  const std::string symbol{parameter(target, "symbol")};
  const auto name = std::ranges::find(names_, symbol, &DepthGenerator::symbol);
  const auto given = snapshots_.find(symbol);
  std::string answer;
  if (given != snapshots_.end()) {
    answer = http_answer(200, given->second);
  } else if (target.contains("depth?") && name != names_.end()) {
    answer = http_answer(200, name->snapshot(5000));
  } else {
    answer = http_answer(400, "{\"code\":-1121,\"msg\":\"Invalid symbol.\"}");
  }
  ++(answer.starts_with("HTTP/1.1 200") ? counters_.snapshots : counters_.refused_requests);
  server_.send(id, answer);
  server_.close(id);
  closed(id);
}

void WebsocketVenue::close_all() {
  std::string frame;
  append_frame(frame, WebsocketOpcode::close,
               "\x03\xE9"
               "end of the session");  // 1001, going away
  while (!subscribers_.empty()) {
    const ConnectionId id = subscribers_.begin()->first;
    server_.send(id, frame);
    server_.close(id);
    closed(id);
  }
}

void WebsocketVenue::cut_all() {
  while (!subscribers_.empty()) {
    const ConnectionId id = subscribers_.begin()->first;
    server_.close(id);
    closed(id);
  }
}

void WebsocketVenue::ping_all() {
  std::string frame;
  append_frame(frame, WebsocketOpcode::ping, "are you there");
  for (const auto& [id, subscriber] : subscribers_) server_.send(id, frame);
}

std::uint64_t WebsocketVenue::hash(bool tickers) const {
  FeedBooks books{
      {.shape = BookShape::by_level, .limits = {.instruments = static_cast<std::uint32_t>(names_.size()) + 1}}};
  for (std::uint32_t i = 0; i < names_.size(); ++i) names_[i].describe(books, InstrumentId{i}, tickers);
  return books.hash();
}

}  // namespace nfx::market
