"""Protections of owners and compaction, for cluster_simulate_planted and cluster_explore_planted: planting.py."""

from planting import Row, main

TABLE = [
    Row("early-release", "simulate", "a record is released before its frame is stored",
        "owner.cpp", "  if (s.options.durability != Durability::async) return false;",
        "  if (PLANT) return true;\n  if (s.options.durability != Durability::async) return false;"),
    Row("epoch-not-compared", "simulate", "the frame of another epoch is taken for the one in flight",
        "owner.cpp", "  if (event.bytes == view(s.flight.bytes)) return on_flight_stored(",
        "  if (PLANT || event.bytes == view(s.flight.bytes)) return on_flight_stored("),
    Row("barrier-skipped", "simulate", "an owner starts before it has read its own epoch",
        "owner.cpp", "  if (s.phase == Phase::reading) return claim(s, {}, nullptr, now, out);\n",
        "  if (s.phase == Phase::reading) return claim(s, {}, nullptr, now, out);\n"
        "  if (PLANT && s.phase == Phase::replaying) return become_owner(s, now, out);\n"),
    Row("gap-not-noticed", "simulate", "a replay continues after frames that the server did not return",
        "owner.cpp", "  if (header.number > after(s.number)) return",
        "  if (!(PLANT && s.has_frame) && header.number > after(s.number)) return"),
    Row("first-frame-not-checked", "simulate", "a replay begins after the first frame",
        "owner.cpp", " begins_with_reset(frame) ? Fit::follows : Fit::gap;",
        " (PLANT && !s.has_frame) || begins_with_reset(frame) ? Fit::follows : Fit::gap;"),
    Row("followed-gap-not-noticed", "simulate", "a candidate follows past frames that the server did not return",
        "owner.cpp", "    case Fit::gap: return end_following(s);",
        "    case Fit::gap:\n      if (!PLANT) return end_following(s);\n      break;"),
    Row("refusal-believed", "simulate", "a refused frame is taken for stored without a comparison",
        "owner.cpp", "        request(s, ActionKind::read_next, s.flight.expected, {}, now, out);\n      break;",
        "        PLANT ? on_flight_stored(s, StreamSeq{std::to_underlying(s.flight.expected) + 1}, now, out)\n"
        "              : request(s, ActionKind::read_next, s.flight.expected, {}, now, out);\n      break;"),
    Row("number-not-reserved", "simulate", "async sends a sequence number before it is reserved",
        "owner.cpp", "  if (record.kind == RecordKind::outbound && record.seq >= s.granted) return false;",
        "  if (!PLANT && record.kind == RecordKind::outbound && record.seq >= s.granted) return false;"),
    Row("reset-without-wait", "simulate", "sequence numbers after a reset count as reserved before it",
        "owner.cpp", "    s.outbound_limit = s.granted = first_seq_num;",
        "    s.outbound_limit = first_seq_num;\n    if (!PLANT) s.granted = first_seq_num;"),
    Row("numbers-ahead", "simulate", "an owner that stops keeps numbers that are not stored",
        "owner.cpp", "    s.counters = s.stored_counters;", "    if (!PLANT) s.counters = s.stored_counters;"),
    Row("attempt-not-counted", "explore", "a gateway's earlier epoch is taken for the one that it claims now",
        "owner.cpp", "  header.attempt = s.attempts;", "  header.attempt = PLANT ? 1 : s.attempts;"),
    Row("lag-not-bounded", "simulate", "async releases more records than it may",
        "owner.cpp", "  return now_open.records <= s.options.async_records_max &&",
        "  return (PLANT || now_open.records <= s.options.async_records_max) &&"),
    Row("reset-removed", "simulate", "a compaction removes the frame with the reset too",
        "compaction.cpp", "  return keep_from_;", "  return StreamSeq{std::to_underlying(keep_from_) + (PLANT ? 1 : 0)};"),
]

main(TABLE)
