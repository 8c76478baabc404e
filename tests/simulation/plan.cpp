// Draws the settings of both sides and the rates of the faults from a seed.
#include "simulation/plan.hpp"

#include <algorithm>

namespace nfx::simulation {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, fault_count> names{"split", "delay",   "cut",     "swallow", "lose",
                                                          "kill",  "crash",   "full",    "sync",    "slow",
                                                          "clock", "restart", "operate", "reload",  "stall"};

[[nodiscard]] ScheduleTexts schedule_of(Hours hours) {
  ScheduleTexts texts;
  switch (hours) {
    case Hours::always: break;
    case Hours::daily:
      texts.start_time = "00:30:00";
      texts.end_time = "23:30:00";
      break;
    case Hours::daily_reset: texts.reset_time = "12:00:00"; break;
  }
  return texts;
}

void draw_session(SessionSettings& settings, Side side, const Plan& plan, Dice& dice) {
  SessionConfig& session = settings.session;
  session.sender_comp_id = side == Side::venue ? "VENUE" : "TRADER";
  session.target_comp_id = side == Side::venue ? "TRADER" : "VENUE";
  session.role = side == Side::venue ? Role::acceptor : Role::initiator;
  session.resend_timeout = std::chrono::seconds{dice.between(3, 12)};
  session.max_resend_attempts = 100;
  session.max_same_resend_requests = 1'000'000;  // with redundant requests, each message after a long gap causes one
  session.max_queued_messages = static_cast<std::uint32_t>(dice.between(8, 256));
  session.max_queued_bytes = 64 * 1024;
  session.resend_chunk_size = dice.coin() ? 0 : static_cast<std::uint32_t>(dice.between(1, 20));
  session.closed_resend_requests = dice.coin();
  session.send_last_msg_seq_num_processed = dice.coin();
  session.send_redundant_resend_requests = dice.chance(200);
  settings.schedule = make_schedule(plan.file[index(side)].schedule);
  settings.send_buffer_size = 64 * 1024;
  settings.reconnect_delay = 500ms;
  settings.reconnect_delay_max = std::chrono::seconds{dice.between(2, 30)};
  settings.connect_timeout = 5s;
  if (side == Side::venue) settings.listen = {"venue", 9000};
  if (side == Side::trader) settings.connect = {{"venue", 9000}};
  settings.store_kind = StoreKind::journal;
  settings.journal.directory = "/store";
  settings.journal.ring_directory = "/ring";
  settings.journal.segment_size = std::uint64_t{64 * 1024} << dice.below(6);
  settings.journal.ring_size = std::uint32_t{64 * 1024} << dice.below(3);
  settings.journal.retain_messages = 1 << 18;  // more than any run sends
  settings.journal.archive = Archive::remove;  // memory is the disk here
  settings.journal.retain_age = 48h;
  redraw_durability(settings.journal, dice);
}

// A session that its peer never uses, beside the tested one.
void draw_other_session(SessionSettings& settings, Side side, std::size_t number, Dice& dice) {
  settings.session.sender_comp_id = side == Side::venue ? "VENUE" : "TRADER";
  settings.session.target_comp_id = "OTHER" + std::to_string(number);
  settings.session.max_queued_messages = 8;
  settings.session.max_queued_bytes = 4096;
  settings.session.timestamp_digits = dice.coin() ? 3 : 6;                                     // needs a disconnect
  settings.session.heartbeat_timeout_percent = static_cast<unsigned>(dice.between(200, 300));  // changes immediately
  settings.listen = side == Side::venue ? Endpoint{"venue", 9000} : Endpoint{"trader", 9001};
  settings.send_buffer_size = 64 * 1024;
  settings.store_kind = StoreKind::memory;
  settings.store.retain_bytes = 4096;
  settings.journal.retain_messages = 8;  // the key for both kinds of store
}

}  // namespace

std::string_view to_string(Fault fault) noexcept { return names[static_cast<std::size_t>(fault)]; }

std::expected<FaultSet, std::string> FaultSet::parse(std::string_view text) {
  if (text == "all") return all();
  FaultSet set = none();
  if (text == "none") return set;
  while (!text.empty()) {
    const std::string_view name = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), name.size() + 1));
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) return std::unexpected(std::string{name});
    set.insert(static_cast<Fault>(at - names.begin()));
  }
  return set;
}

void redraw_durability(JournalOptions& options, Dice& dice) {
  options.durability = static_cast<Durability>(dice.below(4));
  options.sync_interval = std::chrono::milliseconds{dice.between(1, 200)};
}

void redraw_live_settings(SessionSettings& settings, Dice& dice) {
  settings.session.test_request_percent = static_cast<unsigned>(dice.between(105, 150));
  settings.session.heartbeat_timeout_percent = static_cast<unsigned>(dice.between(200, 300));
  settings.session.resend_chunk_size = static_cast<std::uint32_t>(dice.coin() ? 0 : dice.between(1, 50));
  settings.session.closed_resend_requests = dice.coin();
  settings.session.resend_timeout = std::chrono::seconds{dice.between(5, 20)};
  settings.reconnect_delay = std::min(std::chrono::milliseconds{dice.between(500, 3000)}, settings.reconnect_delay_max);
}

void redraw_other_settings(SessionSettings& settings, Dice& dice) {
  redraw_durability(settings.journal, dice);
  settings.session.max_queued_messages = static_cast<std::uint32_t>(dice.between(8, 256));
  settings.session.send_last_msg_seq_num_processed = dice.coin();
}

// Changes the file at random. Sometimes it has more sessions than the engine has places.
void redraw_file(ConfigFile& file, Side side, Dice& dice) {
  if (file.session && dice.coin()) redraw_live_settings(*file.session, dice);
  if (file.session && dice.chance(400)) redraw_other_settings(*file.session, dice);
  file.others.resize(dice.below(3));
  for (std::size_t i = 0; i < file.others.size(); ++i) {
    if (!file.others[i].session.target_comp_id.empty() && dice.coin()) continue;
    draw_other_session(file.others[i], side, i, dice);
  }
  if (dice.chance(200)) file.session.reset();
  if (!file.session && file.others.empty()) draw_other_session(file.others.emplace_back(), side, 0, dice);
  if (dice.chance(100)) file.engine.max_pending_logons = static_cast<std::uint32_t>(dice.between(8, 12));
}

std::string with_mistake(std::string text, Dice& dice) {
  switch (dice.below(4)) {
    case 0: return text + "[[session]]\n";                  // without names
    case 1: return text + "resend_chunk_size = \"all\"\n";  // a valid key, or a number that is not one
    case 2: return text + "no_such_key = 1\n";
    default: return "[engine]\nmax_fields = \n" + text;  // not TOML
  }
}

Plan draw_plan(std::uint64_t seed, FaultSet faults) {
  Dice dice{seed};
  Plan plan{.seed = seed,
            .faults = faults,
            .hours = static_cast<Hours>(dice.below(3)),
            .storm_mean = dice.between(5s, 60s),
            .weather_mean = dice.between(1h, 4h),
            .order_mean = dice.between(50ms, 3s)};
  // With opening hours, both clocks must agree on the day: only the break between two sessions may be blurred.
  plan.clock_step = plan.hours == Hours::always ? 10min : plan.hours == Hours::daily ? 5min : 0min;
  const auto probability = [&](Fault fault, double most) {
    return faults.has(fault) ? most * static_cast<double>(dice.below(101)) / 100 : 0.0;
  };
  plan.network.split_probability = probability(Fault::split, 1);
  plan.network.small_piece = dice.between(1, 40);
  plan.network.delay_probability = probability(Fault::delay, 0.5);
  plan.network.max_delay = dice.between(1ms, 5s);
  plan.network.cut_probability = probability(Fault::cut, 0.8);
  plan.network.cut_within = dice.between(256, 32 * 1024);
  plan.network.swallow_probability = probability(Fault::swallow, 0.3);
  plan.network.swallow_within = dice.between(256, 32 * 1024);
  const bool next_expected = dice.chance(300);
  for (const Side side : {Side::venue, Side::trader}) {
    ConfigFile& file = plan.file[index(side)];
    file.engine.max_message_size = 4096;
    file.engine.max_fields = 64;
    file.engine.max_pending_logons = 8;
    file.engine.max_dynamic_sessions = 2;
    file.schedule = schedule_of(plan.hours);
    draw_session(file.session.emplace(), side, plan, dice);
    file.session->session.send_next_expected_seq_num = next_expected;
  }
  plan.file[index(Side::trader)].session->session.heartbeat_interval = std::chrono::seconds{dice.between(5, 60)};
  return plan;
}

}  // namespace nfx::simulation
