// The exchange's publishing, answers and snapshots, with their faults.
#include "feed_storms/servers.hpp"

#include <algorithm>
#include <utility>

namespace nfx::feed_storms {

using namespace market;

bool Schedule::run_next(Duration end) {
  if (events_.empty() || events_.top().at > end) return false;
  Entry entry = std::move(const_cast<Entry&>(events_.top()));
  events_.pop();
  now_ = entry.at;
  entry.what();
  return true;
}

Exchange::Exchange(const Plan& plan, Schedule& schedule, Dice& dice, Client client)
    : plan_(plan), schedule_(schedule), dice_(dice), client_(std::move(client)), day_(plan.day) {}

void Exchange::start() {
  publish();
  heartbeat();
}

void Exchange::publish() {
  std::vector<Bytes> messages;
  const std::uint64_t first = log_.size() + 1;
  const std::uint64_t count = dice_.between(1, plan_.packet_messages);
  while (messages.size() < count) {
    const auto message = day_.next();
    if (message.empty()) {
      over_ = true;
      break;
    }
    messages.emplace_back(message.begin(), message.end());
    log_.push_back(messages.back());
  }
  if (!messages.empty()) send(test::mold_packet(session_, first, messages));
  if (!over_) schedule_.after(dice_.wait(plan_.packet_interval), [this] { publish(); });
}

void Exchange::heartbeat() {
  send(test::mold_heartbeat(session_, log_.size() + 1, over_ && calm_ ? mold_end_of_session : std::uint16_t{0}));
  schedule_.after(1s, [this] { heartbeat(); });
}

void Exchange::send(const Bytes& packet) {
  if (calm_) burst_left_ = 0;
  if (burst_left_ == 0 && !calm_ && dice_.below(10'000) < plan_.burst)
    burst_left_ = dice_.between(1, plan_.burst_packets);
  if (burst_left_ != 0) {
    --burst_left_;
    return;
  }
  send_on(0, packet);
  send_on(1, packet);
}

void Exchange::send_on(std::size_t line, const Bytes& packet) {
  const LinePlan& plan = plan_.lines[line];
  const MoldLine name = line == 0 ? MoldLine::a : MoldLine::b;
  Duration wait = plan.latency + dice_.between(0ns, plan.jitter);
  const auto arrives = [&](Duration after, Bytes bytes) {
    schedule_.after(after, [this, name, sent = std::move(bytes)] { client_.packet(name, sent); });
  };
  if (calm_) return arrives(wait, packet);
  const Duration now = schedule_.now();
  if (now >= plan.dies_at && now < plan.returns_at) return;
  if (dice_.below(10'000) < plan.garbage) {
    Bytes garbage(dice_.below(80));
    for (std::byte& b : garbage) b = static_cast<std::byte>(dice_.below(256));
    // A valid start of a header, so that the rest is parsed.
    if (dice_.coin()) std::copy_n(packet.begin(), std::min<std::size_t>(garbage.size(), 12), garbage.begin());
    // A forged message would be accepted as real.
    if (garbage.size() >= mold_header_size) garbage.resize(mold_header_size - 1);
    arrives(wait, garbage);
  }
  if (dice_.chance(plan.lost)) return;
  if (dice_.chance(plan.reordered)) wait += dice_.between(0ns, plan.reordered_by);
  Bytes bytes = packet;
  if (dice_.below(10'000) < plan.truncated) bytes.resize(dice_.below(bytes.size()));
  if (dice_.chance(plan.duplicated)) arrives(wait + dice_.between(0ns, plan.reordered_by), bytes);
  arrives(wait, std::move(bytes));
}

// As many messages as fit into one packet.
void Exchange::request(const MoldRequest& wanted) {
  if (wanted.session != session_ || wanted.sequence == 0 || wanted.sequence > log_.size()) return;
  Duration wait = dice_.between(50us, 2ms);
  if (!calm_) {
    switch (plan_.requests) {
      case Plan::Requests::prompt: break;
      case Plan::Requests::late: wait = dice_.between(5ms, 200ms); break;
      case Plan::Requests::unreliable:
        if (dice_.chance(300)) return;
        break;
      case Plan::Requests::never: return;
    }
    if (log_.size() - wanted.sequence >= plan_.request_history) return;
  }
  std::vector<Bytes> messages;
  std::size_t size = mold_header_size;
  const std::uint64_t end = std::min<std::uint64_t>(log_.size() + 1, wanted.sequence + wanted.count);
  for (std::uint64_t i = wanted.sequence; i < end && size < 1400; ++i) {
    messages.push_back(log_[i - 1]);
    size += 2 + messages.back().size();
  }
  const Bytes packet = test::mold_packet(session_, wanted.sequence, messages);
  schedule_.after(wait, [this, packet] { client_.packet(MoldLine::request, packet); });
}

void Exchange::deliver_after(Duration wait, std::uint64_t connection, std::function<void()> what) {
  schedule_.after(wait, [this, connection, what = std::move(what)] {
    if (connection == connection_) what();
  });
}

void Exchange::connect() {
  const std::uint64_t connection = ++connection_;
  if (!calm_ && snapshots_ < plan_.snapshots_that_fail && dice_.chance(300)) {
    ++snapshots_;
    // A refusal, or no answer at all.
    if (dice_.coin()) deliver_after(dice_.between(0ms, 20ms), connection, [this] { client_.disconnected(); });
    return;
  }
  deliver_after(dice_.between(0ms, 20ms), connection, [this] { client_.connected(); });
}

void Exchange::sent(std::span<const std::byte> bytes) {
  if (bytes.size() != soup::login_request_size) return;
  send_snapshot(connection_);
}

Bytes Exchange::snapshot_bytes(std::uint64_t next) const {
  ReferenceBooks books;
  for (std::uint64_t i = 1; i < next; ++i) books.message(log_[i - 1]);
  Bytes bytes = test::soup_login_accepted("GLIMPSE", 1);
  const auto add = [&bytes](std::span<const std::byte> message) {
    const Bytes packet = test::soup_packet(soup::sequenced, message);
    bytes.insert(bytes.end(), packet.begin(), packet.end());
  };
  for (const auto& [locate, symbol] : books.symbols) {
    itch::Message<itch::StockDirectory> message{locate, 0};
    add(message.set(itch::StockDirectory::stock, symbol).bytes());
  }
  books.for_each_order([&](const ReferenceBooks::Order& order) {
    itch::Message<itch::AddOrder> message{order.locate, 0};
    message.set(itch::AddOrder::order, order.reference).set(itch::AddOrder::side, order.side);
    add(message.set(itch::AddOrder::shares, order.shares).set(itch::AddOrder::price, order.price).bytes());
  });
  add(test::glimpse_end_message(next));
  return bytes;
}

void Exchange::send_snapshot(std::uint64_t connection) {
  const std::uint64_t number = snapshots_++;
  std::uint64_t next = log_.size() + 1;
  const bool fails = !calm_ && number < plan_.snapshots_that_fail;
  if (!calm_ && !fails && number < plan_.snapshots_that_fail + plan_.snapshots_that_are_old)
    next = 1 + dice_.below(next);
  if (fails && dice_.chance(200)) {
    const Bytes rejected = test::soup_packet(soup::login_rejected, test::bytes_of("S"));
    deliver_after(1ms, connection, [this, rejected] { client_.received(rejected); });
    return;
  }
  const Bytes bytes = snapshot_bytes(next);
  const std::size_t end = fails ? dice_.below(bytes.size()) : bytes.size();
  const std::size_t pieces = dice_.between(1, 60);
  const Duration wait = plan_.snapshot_takes / static_cast<std::int64_t>(pieces);
  const std::size_t size = std::max<std::size_t>(1, bytes.size() / pieces);
  Duration at{};
  for (std::size_t begin = 0; begin < end; begin += size) {
    at += wait;
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(begin);
    const Bytes piece(from, from + static_cast<std::ptrdiff_t>(std::min(size, end - begin)));
    deliver_after(at, connection, [this, piece] { client_.received(piece); });
  }
  // A failing server closes the connection, ends the session, or sends nothing more.
  if (!fails) return;
  switch (dice_.below(3)) {
    case 0: return deliver_after(at, connection, [this] { client_.disconnected(); });
    case 1: {
      const Bytes ended = test::soup_packet(soup::end_of_session);
      return deliver_after(at, connection, [this, ended] { client_.received(ended); });
    }
    default: return;
  }
}

}  // namespace nfx::feed_storms
