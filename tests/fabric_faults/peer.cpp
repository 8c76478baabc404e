// Writes a pattern into every sent page and record, and compares everything reported as received with it.
#include "fabric_faults/peer.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace nfx::fabric_faults {
namespace {

using namespace std::chrono_literals;

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// Every eight bytes of every page differ.
std::uint64_t word_of(std::uint64_t id, std::uint32_t page, std::size_t at) {
  return mixed(id << 40 ^ std::uint64_t{page} << 20 ^ at);
}
void write_page(std::span<std::byte> bytes, std::uint64_t id, std::uint32_t page) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    const std::uint64_t word = word_of(id, page, at);
    std::memcpy(bytes.data() + at, &word, 8);
  }
}
bool is_page(std::span<const std::byte> bytes, std::uint64_t id, std::uint32_t page) {
  for (std::size_t at = 0; at + 8 <= bytes.size(); at += 8) {
    const std::uint64_t word = word_of(id, page, at);
    if (std::memcmp(bytes.data() + at, &word, 8) != 0) return false;
  }
  return true;
}

// A record is the sender's session, its sequence number, and a pattern whose length depends on both.
std::vector<std::byte> record_of(std::uint64_t session, std::uint64_t seq) {
  std::vector<std::byte> record(16 + mixed(session ^ seq) % 180);
  std::memcpy(record.data(), &session, 8);
  std::memcpy(record.data() + 8, &seq, 8);
  for (std::size_t at = 16; at < record.size(); ++at) record[at] = static_cast<std::byte>(mixed(session + seq + at));
  return record;
}

fabric::LinkOptions with_session(fabric::LinkOptions options, std::uint64_t session) {
  options.session = session;
  return options;
}

}  // namespace

std::uint64_t Peer::new_session(Shared& shared) { return shared.dice.next() | 1; }

Peer::Peer(Shared& shared, std::size_t index, std::span<const fabric::RailRef> rails,
           const fabric::LinkOptions& options)
    : shared_(shared),
      index_(index),
      memory_(fabric::Region::make({.use = "storm", .size = std::uint64_t{2} * places * place_size}).value()),
      options_(with_session(options, new_session(shared))),
      link_(rails, options_, *this),
      region_(link_.add_region(memory_).value()),
      places_(std::size_t{2} * places) {
  begin_session(options_.session);
  for (std::size_t place = 0; place < places_.size(); ++place) free_place(place);
}

void Peer::begin_session(std::uint64_t session) {
  session_ = session;
  records_ = peer_session_ = to_acknowledge_ = acknowledged_ = 0;
  restart_at_.reset();
}

std::span<std::byte> Peer::bytes(std::size_t place) noexcept {
  return memory_.bytes().subspan(place * place_size, place_size);
}

// The next use of this memory: any further read or write by the link is noticed.
void Peer::free_place(std::size_t place) {
  places_[place] = {.id = 0, .filler = static_cast<std::byte>(shared_.dice.below(256))};
  std::ranges::fill(bytes(place), places_[place].filler);
}

void Peer::check_free(std::size_t place) {
  const auto memory = bytes(place);
  const bool same = std::ranges::all_of(memory, [&](std::byte each) { return each == places_[place].filler; });
  if (!same) find("memory changed after its transfer was reported");
}

void Peer::check_memory() {
  for (std::size_t place = 0; place < places_.size(); ++place) {
    if (places_[place].id == 0) check_free(place);
  }
}

std::optional<std::size_t> Peer::find_place(bool outgoing, std::uint64_t id) const {
  const std::size_t first = outgoing ? places : 0;
  for (std::size_t place = first; place < first + places; ++place) {
    if (places_[place].id == id) return place;
  }
  return std::nullopt;
}

void Peer::poll(MonotonicTime now) {
  if (restart_at_ && now >= *restart_at_) {
    const std::uint64_t session = new_session(shared_);
    link_.restart(session, now);
    begin_session(session);
  }
  link_.poll(now);
  if (link_.lost() && !restart_at_) restart_at_ = now + shared_.dice.between(1ms, 40ms);
  if (to_acknowledge_ != 0 && shared_.dice.chance(300)) {
    link_.acknowledge(fabric::RecordSeq{std::exchange(to_acknowledge_, 0)});
  }
}

bool Peer::send(Deal& deal) {
  const auto place = find_place(true, 0);
  if (!place) return false;
  for (std::uint32_t page = 0; page < deal.sender_pages; ++page) {
    write_page(bytes(*place).subspan(std::size_t{page} * deal.page_size, deal.page_size), deal.id, page);
    shared_.sent[word_of(deal.id, page, 0)] = {deal.id, page};
  }
  const auto done = link_.send(
      fabric::TransferId{deal.id},
      {.region = region_, .offset = *place * place_size, .page_size = deal.page_size, .pages = deal.sender_pages});
  if (!done) {
    free_place(*place);
    return false;
  }
  places_[*place].id = deal.id;
  deal.send_called = true;
  return true;
}

bool Peer::receive(Deal& deal) {
  const auto place = find_place(false, 0);
  if (!place) return false;
  check_free(*place);
  const auto done = link_.receive(
      fabric::TransferId{deal.id},
      {.region = region_, .offset = *place * place_size, .page_size = deal.page_size, .pages = deal.pages});
  if (!done) return false;
  places_[*place].id = deal.id;
  deal.receive_called = true;
  return true;
}

void Peer::send_record() {
  const std::uint64_t next = std::to_underlying(link_.last_sent()) + 1;
  const auto sent = link_.send_record(record_of(session_, next));
  if (sent && std::to_underlying(*sent) != next) find("a record has another sequence number than the next");
}

void Peer::kill(MonotonicTime now) {
  killed_ = true;
  for (auto& [id, deal] : shared_.deals) {
    const bool sends = deal.sender == index_ && deal.send_called && !deal.sent;
    const bool receives = deal.sender != index_ && deal.receive_called && !deal.received;
    if (!sends && !receives) continue;
    deal.forgotten = true;
    (sends ? deal.sent : deal.received) = TransferResult::lost;
  }
  const std::uint64_t session = new_session(shared_);
  link_.restart(session, now);
  killed_ = false;
  begin_session(session);
  for (std::size_t place = 0; place < places_.size(); ++place) {
    if (places_[place].id != 0) free_place(place);
  }
}

void Peer::on_record(fabric::RecordSeq seq, std::span<const std::byte> record) {
  const std::uint64_t number = std::to_underlying(seq);
  if (number != records_ + 1) find("record " + std::to_string(number) + " after " + std::to_string(records_));
  records_ = number;
  std::uint64_t session = 0;
  if (record.size() >= 16) std::memcpy(&session, record.data(), 8);
  if (peer_session_ == 0) peer_session_ = session;
  if (session != peer_session_) find("records of two sessions in one");
  if (!std::ranges::equal(record, record_of(session, number))) find("a record has other bytes than were sent");
  shared_.delivered[session] = number;
  ++shared_.records;
  if (!options_.acknowledge_on_return) to_acknowledge_ = number;
}

void Peer::on_acknowledged(fabric::RecordSeq through) {
  if (killed_) return;
  const std::uint64_t number = std::to_underlying(through);
  if (number <= acknowledged_) find("an acknowledgement goes back");
  acknowledged_ = number;
  if (shared_.delivered[session_] < number) find("a record is acknowledged that was not delivered");
}

void Peer::on_requested(fabric::TransferId id, const fabric::PageRange& into) {
  const auto found = shared_.deals.find(std::to_underlying(id));
  if (found == shared_.deals.end()) return find("a transfer is requested that does not exist");
  if (into.pages != found->second.pages) find("a request has another number of pages");
  if (found->second.send_called || found->second.cancelled || shared_.dice.chance(300)) return;
  static_cast<void>(send(found->second));
}

void Peer::on_page(fabric::TransferId id, std::uint32_t page) {
  if (killed_) return;
  ++shared_.pages;
  const auto place = find_place(false, std::to_underlying(id));
  if (!place) return find("a page of a transfer that is not open");
  Deal& deal = shared_.deals.at(std::to_underlying(id));
  if (page >= deal.pages) return find("a page beyond the last");
  if (deal.seen[page]) find("a page is reported twice");
  deal.seen[page] = true;
  if (!is_page(bytes(*place).subspan(std::size_t{page} * deal.page_size, deal.page_size), deal.id, page))
    find("a page is reported that is not whole");
}

void Peer::on_received(fabric::TransferId id, TransferResult result) {
  if (killed_) return;
  const auto place = find_place(false, std::to_underlying(id));
  Deal& deal = shared_.deals.at(std::to_underlying(id));
  if (!place || deal.received) return find("a transfer is reported as received twice");
  deal.received = result;
  if (result == TransferResult::complete) {
    if (std::ranges::count(deal.seen, false) != 0) find("a transfer is complete without all of its pages");
    for (std::uint32_t page = 0; page < deal.pages; ++page) {
      if (!is_page(bytes(*place).subspan(std::size_t{page} * deal.page_size, deal.page_size), deal.id, page))
        find("a page of a complete transfer is not whole");
    }
  }
  if (result == TransferResult::cancelled && !deal.cancelled) find("a transfer is cancelled that was not to be");
  if (result == TransferResult::different && deal.pages == deal.sender_pages) find("equal pages are called different");
  free_place(*place);
}

void Peer::on_sent(fabric::TransferId id, TransferResult result) {
  if (killed_) return;
  const auto place = find_place(true, std::to_underlying(id));
  Deal& deal = shared_.deals.at(std::to_underlying(id));
  if (!place || deal.sent) return find("a transfer is reported as sent twice");
  deal.sent = result;
  if (result == TransferResult::complete && deal.received != TransferResult::complete && !deal.forgotten)
    find("a transfer is complete for the sender and not for the receiver");
  if (result == TransferResult::cancelled && !deal.cancelled) find("a transfer is cancelled that was not to be");
  free_place(*place);
}

// The peer is a link too, and no fault changes bytes.
void Peer::on_rail(std::size_t rail, fabric::RailChange change) {
  if (change == fabric::RailChange::protocol)
    find("rail " + std::to_string(rail) + " is closed for what no link sends");
}

void Peer::on_lost(fabric::LossReason reason) {
  if (killed_ || reason == fabric::LossReason::stopped) return;
  ++shared_.losses;
  if (reason == fabric::LossReason::protocol || reason == fabric::LossReason::different_options)
    find("the link is lost for " + std::string{to_string(reason)});
}

}  // namespace nfx::fabric_faults
