// One end of a storm: an application over a link, which checks every reported page and record, and reuses the memory of
// a transfer as soon as it is reported.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nexusfix/fabric/link.hpp"
#include "simulation/dice.hpp"

namespace nfx::fabric_faults {

using fabric::TransferResult;
using simulation::Dice;

// The combined knowledge of both ends about one transfer.
struct Deal {
  std::uint64_t id = 0;
  std::size_t sender = 0;
  std::uint32_t page_size = 0;
  std::uint32_t pages = 0;
  std::uint32_t sender_pages = 0;  // differs in a few transfers
  bool cancelled = false;
  bool send_called = false;
  bool receive_called = false;
  bool forgotten = false;  // one end was killed
  std::optional<TransferResult> sent;
  std::optional<TransferResult> received;
  std::vector<bool> seen;  // pages
};

// The combined knowledge of both ends.
struct Shared {
  explicit Shared(std::uint64_t seed) : dice(seed) {}

  Dice dice;
  std::string finding;
  std::map<std::uint64_t, Deal> deals;
  std::unordered_map<std::uint64_t, std::pair<std::uint64_t, std::uint32_t>> sent;  // transfer and page, by first word
  std::map<std::uint64_t, std::uint64_t> delivered;                                 // records by the sender's session
  std::uint64_t pages = 0;
  std::uint64_t records = 0;
  std::uint64_t losses = 0;

  void find(const std::string& text) {
    if (finding.empty()) finding = text;
  }
};

class Peer final : public fabric::LinkEvents {
 public:
  static constexpr std::uint32_t place_size = 16 * 1024;
  static constexpr std::uint32_t places = 6;  // for either direction

  Peer(Shared& shared, std::size_t index, std::span<const fabric::RailRef> rails, const fabric::LinkOptions& options);

  void poll(MonotonicTime now);
  bool send(Deal& deal);
  bool receive(Deal& deal);
  void send_record();
  // Like kill -9 and a restart: nothing of the open transfers is reported, and the session is a new one.
  void kill(MonotonicTime now);
  void check_memory();

  [[nodiscard]] fabric::Link& link() noexcept { return link_; }
  [[nodiscard]] bool owes_acknowledgement() const noexcept { return !link_.lost() && to_acknowledge_ != 0; }

  void on_record(fabric::RecordSeq seq, std::span<const std::byte> record) override;
  void on_acknowledged(fabric::RecordSeq through) override;
  void on_requested(fabric::TransferId id, const fabric::PageRange& into) override;
  void on_page(fabric::TransferId id, std::uint32_t page) override;
  void on_received(fabric::TransferId id, TransferResult result) override;
  void on_sent(fabric::TransferId id, TransferResult result) override;
  void on_rail(std::size_t rail, fabric::RailChange change) override;
  void on_lost(fabric::LossReason reason) override;

 private:
  struct Place {
    std::uint64_t id = 0;  // 0: free, and filled with `filler`
    std::byte filler{};
  };

  [[nodiscard]] static std::uint64_t new_session(Shared& shared);
  void begin_session(std::uint64_t session);
  [[nodiscard]] std::span<std::byte> bytes(std::size_t place) noexcept;
  void free_place(std::size_t place);
  void check_free(std::size_t place);
  [[nodiscard]] std::optional<std::size_t> find_place(bool outgoing, std::uint64_t id) const;
  void find(const std::string& text) { shared_.find("peer " + std::to_string(index_) + ": " + text); }

  Shared& shared_;
  const std::size_t index_;
  fabric::Region memory_;
  fabric::LinkOptions options_;
  fabric::Link link_;
  fabric::RegionIndex region_{};
  std::vector<Place> places_;  // first the places for receiving, then for sending
  bool killed_ = false;        // ignores reports of the link that ended
  std::uint64_t session_ = 0;
  std::uint64_t records_ = 0;       // received in this session
  std::uint64_t peer_session_ = 0;  // of the records received
  std::uint64_t to_acknowledge_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::optional<MonotonicTime> restart_at_;
};

}  // namespace nfx::fabric_faults
