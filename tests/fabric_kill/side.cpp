// A sender that writes patterned pages and records, and a receiver that compares every one with the pattern and then
// overwrites the memory.
#include "fabric_kill/side.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "nexusfix/fabric/link.hpp"
#include "nexusfix/fabric/rail_kinds.hpp"

namespace nfx::fabric_kill {
namespace {

using namespace std::chrono_literals;
using fabric::TransferResult;

constexpr std::uint32_t page_size = 16384;
constexpr std::uint32_t pages = 24;
constexpr std::uint32_t places = 4;
constexpr std::uint64_t place_size = std::uint64_t{page_size} * pages;

std::uint64_t word_of(std::uint64_t session, std::uint64_t id, std::uint64_t at) {
  std::uint64_t value = session * 0x9e3779b97f4a7c15 ^ id << 32 ^ at;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  return value ^ value >> 27;
}

class Side final : public fabric::LinkEvents {
 public:
  Side(const SideOptions& options, Accounts& accounts)
      : options_(options),
        account_(options.sends ? accounts.sender : accounts.receiver),
        other_(options.sends ? accounts.receiver : accounts.sender),
        random_(options.seed),
        memory_(fabric::Region::make({.use = "kill", .size = places * place_size}).value()) {
    std::vector<fabric::RailRef> rails;
    for (const std::string& place : options.places) {
      const fabric::RailAddress address{options.sends ? fabric::RailEnd::listens : fabric::RailEnd::connects, place};
      if (place.starts_with('/')) {
        shm_.push_back(take(fabric::ShmRail::make({.address = address, .slots = 128})));
        rails.emplace_back(*shm_.back());
      } else {
        tcp_.push_back(take(fabric::TcpRail::make({.address = address, .slots = 64})));
        rails.emplace_back(*tcp_.back());
      }
    }
    fabric::LinkOptions link;
    link.session = random_() | 1;
    link.record_slots = 64;
    link.record_size = 256;
    link.transfers = places;
    link.pages = pages;
    link.heartbeat = 20ms;
    link.silence = 2s;
    link.reopen_after = 1ms;
    link.lost_after = 10s;
    link_ = std::make_unique<fabric::Link>(rails, link, *this);
    region_ = take(link_->add_region(memory_));
    begin_session();
  }

  void run() {
    for (;;) {
      const MonotonicTime now = std::chrono::steady_clock::now();
      if (link_->lost()) {
        link_->restart(random_() | 1, now);
        begin_session();
      }
      work();
      if (link_->poll(now) == 0) std::this_thread::yield();
    }
  }

  void on_record(fabric::RecordSeq seq, std::span<const std::byte> record) override {
    std::array<std::uint64_t, 3> head{};
    if (record.size() != 64) return violate("a record has another length");
    std::memcpy(head.data(), record.data(), sizeof head);
    if (head[1] != std::to_underlying(seq) || head[2] != word_of(head[0], head[1], 0))
      return violate("a record has other bytes than were sent");
    know_sender(head[0]);
    session_->records.store(head[1]);
    ++account_.progress;
  }
  void on_acknowledged(fabric::RecordSeq through) override {
    session_->records.store(std::to_underlying(through));
    ++account_.progress;
  }
  void on_page(fabric::TransferId id, std::uint32_t page) override {
    if (page == 0 || sender_session_ != 0) check_page(std::to_underlying(id), page);
  }
  void on_received(fabric::TransferId id, TransferResult result) override {
    ++account_.progress;
    const std::uint64_t number = std::to_underlying(id);
    if (result == TransferResult::complete) {
      ++account_.complete;
      std::uint64_t session = 0;
      std::memcpy(&session, memory_.data() + number % places * place_size, sizeof session);
      know_sender(session);
      for (std::uint32_t page = 0; page < pages; ++page) check_page(number, page);
      note_complete(number);
    } else {
      ++account_.failed;
    }
    std::memset(memory_.data() + number % places * place_size, 0x77, place_size);
    open_[number % places] = false;
  }
  void on_sent(fabric::TransferId id, TransferResult result) override {
    ++account_.progress;
    ++(result == TransferResult::complete ? account_.complete : account_.failed);
    if (result == TransferResult::complete) note_complete(std::to_underlying(id));
    std::memset(memory_.data() + std::to_underlying(id) % places * place_size, 0x66, place_size);
    open_[std::to_underlying(id) % places] = false;
  }
  void on_lost(fabric::LossReason reason) override {
    ++account_.losses;
    if (reason == fabric::LossReason::protocol) violate("the link is lost for protocol");
  }

 private:
  template <class T>
  static T take(std::expected<T, std::string> made) {
    if (!made) throw std::runtime_error(made.error());
    return *std::move(made);
  }

  void violate(const char* text) {
    if (account_.violations.load() == 0)
      std::snprintf(account_.violation.data(), account_.violation.size(), "%s", text);
    ++account_.violations;
  }

  void note_complete(std::uint64_t id) {
    if (id < transfers) session_->complete[id / 64] |= std::uint64_t{1} << id % 64;
  }

  void begin_session() {
    const std::uint64_t index = account_.starts.load();
    if (index >= sessions) throw std::runtime_error("more sessions than the account has");
    session_ = &account_.by_session[index];
    number_ = index + 1;
    account_.starts.store(number_);
    next_ = 0;
    open_ = {};
    sender_session_ = 0;
  }

  // The sender's sessions are numbered from 1.
  void know_sender(std::uint64_t session) {
    if (sender_session_ != 0 && sender_session_ != session) violate("two sessions of the sender in one");
    if (session == 0 || session > other_.starts.load()) violate("a session that the sender never had");
    sender_session_ = session;
    session_->of.store(session);
  }

  // The first word of the first page is the sender's session.
  void write_pages(std::uint64_t id) {
    std::byte* const at = memory_.data() + id % places * place_size;
    for (std::uint64_t word = 0; word < place_size / 8; ++word) {
      const std::uint64_t value = word == 0 ? number_ : word_of(number_, id, word);
      std::memcpy(at + 8 * word, &value, 8);
    }
  }
  void check_page(std::uint64_t id, std::uint32_t page) {
    const std::byte* const at = memory_.data() + id % places * place_size;
    std::uint64_t session = sender_session_;
    if (page == 0) std::memcpy(&session, at, sizeof session);
    for (std::uint64_t word = page * page_size / 8; word < (page + 1) * std::uint64_t{page_size} / 8; ++word) {
      const std::uint64_t value = word == 0 ? session : word_of(session, id, word);
      if (std::memcmp(at + 8 * word, &value, 8) != 0) return violate("a page is reported that is not whole");
    }
  }

  void work() {
    while (!open_[(next_ + 1) % places]) {
      const fabric::TransferId id{next_ + 1};
      const std::uint64_t offset = std::to_underlying(id) % places * place_size;
      const fabric::PageRange range{.region = region_, .offset = offset, .page_size = page_size, .pages = pages};
      if (options_.sends) write_pages(std::to_underlying(id));
      if (!(options_.sends ? link_->send(id, range) : link_->receive(id, range))) break;
      ++next_;
      open_[next_ % places] = true;
    }
    if (!options_.sends || random_() % 4 != 0) return;
    std::array<std::uint64_t, 8> record{};
    record[0] = number_;
    record[1] = std::to_underlying(link_->last_sent()) + 1;
    record[2] = word_of(number_, record[1], 0);
    static_cast<void>(link_->send_record(std::as_bytes(std::span{record})));
  }

  const SideOptions options_;
  SideAccount& account_;
  SideAccount& other_;
  std::mt19937_64 random_;
  fabric::Region memory_;
  std::vector<std::unique_ptr<fabric::ShmRail>> shm_;
  std::vector<std::unique_ptr<fabric::TcpRail>> tcp_;
  std::unique_ptr<fabric::Link> link_;
  fabric::RegionIndex region_{};
  SideAccount::Session* session_ = nullptr;
  std::uint64_t number_ = 0;
  std::uint64_t next_ = 0;
  std::array<bool, places> open_{};  // by place
  std::uint64_t sender_session_ = 0;
};

}  // namespace

int run_side(const SideOptions& options, Accounts& accounts) {
  try {
    Side{options, accounts}.run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}

}  // namespace nfx::fabric_kill
