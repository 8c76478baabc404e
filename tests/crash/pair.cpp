// Starts, kills and settles the exchange and the trader of the crash test, with a durability drawn for each start.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

#include "account.hpp"
#include "modes.hpp"
#include "transport/loopback.hpp"

namespace nfx::crash {
namespace {

// A healthy run takes milliseconds; these limits are for busy machines. The first is the time without a confirmed
// order, because thousands of them, each synced alone, need minutes on a slow disk. The second is for the whole run.
constexpr std::chrono::seconds patience{30};
constexpr std::chrono::seconds longest_settling{150};

// Grows with every confirmed order.
std::uintmax_t account_size(const PartyOptions& trader) {
  std::error_code none_yet;
  const std::uintmax_t size = std::filesystem::file_size(account_file(trader.folder), none_yet);
  return none_yet ? 0 : size;
}

std::string open_orders(const PartyOptions& trader) {
  std::set<std::uint64_t> open;
  for (const AccountLine& line : read_account(account_file(trader.folder))) {
    if (line.entry == Entry::intended) open.insert(line.order);
    if (line.entry == Entry::confirmed) open.erase(line.order);
  }
  std::string text = std::to_string(open.size()) + " orders without a report";
  return open.empty() ? text : text + ", the first is " + std::to_string(*open.begin());
}

}  // namespace

Pair::Pair(const CrashOptions& options, Random& random, bool small) : random_(random) {
  for (PartyOptions* party : {&exchange_options, &trader_options}) {
    const bool is_exchange = party == &exchange_options;
    party->role = is_exchange ? Role::acceptor : Role::initiator;
    party->folder = options.folder / (is_exchange ? "exchange" : "trader");
    party->store = party->folder / "store";
    // Rings are in memory, because every sync of the disk would otherwise write them too; one folder, removed with the
    // run.
    party->ring = std::filesystem::path{"/dev/shm"} / ("nfx-crash-" + std::to_string(::getpid()));
    party->small = small;
    std::filesystem::create_directories(party->folder);
    std::filesystem::create_directories(party->ring);
  }
  exchange_options.port = trader_options.port = test::free_port();
}

Pair::~Pair() {
  exchange.kill();
  trader.kill();
  std::error_code ignored;
  std::filesystem::remove_all(exchange_options.ring, ignored);
}

void Pair::start() {
  constexpr Durability kinds[] = {Durability::none, Durability::interval, Durability::group, Durability::message};
  for (auto& [child, options] : {std::pair{&exchange, &exchange_options}, {&trader, &trader_options}}) {
    if (child->running()) continue;
    options->durability = kinds[random_() % std::size(kinds)];
    options->seed = random_();
    child->start(*options);
    logged_on_ = settled_ = false;
  }
}

void Pair::kill(Child& child) {
  if (child.running()) child.kill();
  // Its reports before the kill are outdated, and the trader's session ends with the exchange's.
  while (trader.running() && trader.word()) {
  }
  logged_on_ = settled_ = false;
}

bool Pair::heard(Word wanted) {
  bool found = false;
  for (Child* child : {&exchange, &trader}) {
    while (child->running()) {
      const auto word = child->word();
      if (!word) break;
      found = found || *word == wanted;
      if (child == &exchange) continue;
      if (*word == Word::logged_on) logged_on_ = true;
      if (*word == Word::settled) settled_ = true;
      if (*word == Word::logged_on || *word == Word::logged_out) settled_ = false;
    }
  }
  return found;
}

void Pair::wait_for_logon() {
  const Deadline deadline = in(patience);
  while (!heard(Word::store_trouble) && !logged_on_) {
    if (std::chrono::steady_clock::now() >= deadline) throw AuditFailure("the trader does not log on");
    wait_for_words(exchange, trader, deadline);
  }
}

AuditCounts Pair::settle_and_audit(AuditOptions options) {
  start();
  const Deadline last = in(longest_settling);
  Deadline deadline = in(patience);
  std::uintmax_t size = account_size(trader_options);
  while (static_cast<void>(heard(Word::settled)), !settled_) {
    if (std::chrono::steady_clock::now() >= deadline) {
      const std::uintmax_t before = std::exchange(size, account_size(trader_options));
      if (size == before || deadline == last) throw AuditFailure("not settled in time: " + open_orders(trader_options));
      deadline = std::min(in(patience), last);
    }
    wait_for_words(exchange, trader, deadline);
  }
  trader.stop(in(patience));
  exchange.stop(in(patience));
  logged_on_ = settled_ = false;
  return audit(exchange_options, trader_options, options);
}

}  // namespace nfx::crash
