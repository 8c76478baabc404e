// Compares both journals with the accounts of both parties, which have ended in order. Errors: AuditFailure, one line
// with the fault, the order and the sequence number.
#pragma once

#include <cstdint>
#include <stdexcept>

#include "party.hpp"

namespace nfx::crash {

class AuditFailure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct AuditCounts {
  std::uint64_t orders = 0;
  std::uint64_t refused = 0;           // sends that the session refused
  std::uint64_t seen_again = 0;        // orders and reports that arrived again, marked as such
  std::uint64_t sent_again = 0;        // by the applications, which could not know whether they had been sent
  std::uint64_t messages = 0;          // in both journals
  std::uint64_t outbound[2] = {0, 0};  // next number of exchange and trader
};

struct AuditOptions {
  // A repair may have dropped messages from the journals; those need not be found.
  bool repaired = false;
};

[[nodiscard]] AuditCounts audit(const PartyOptions& exchange, const PartyOptions& trader, AuditOptions options = {});

}  // namespace nfx::crash
