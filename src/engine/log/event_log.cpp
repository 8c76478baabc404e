// Events of sessions and of the engine as lines of a deferred log.
#include "log/event_log.hpp"

#include "base/printable.hpp"

namespace nfx {
namespace {

DeferredLogOptions with_one_more_lane(DeferredLogOptions options) {
  if (options.lanes < UINT32_MAX) ++options.lanes;
  return options;
}

}  // namespace

EventLog::EventLog(DeferredLogOptions options)
    : DeferredLog(with_one_more_lane(options)), others_(lane_at(options.lanes)) {}

void EventLog::append_line(std::string& out, const Line& line) {
  out += ' ';
  if (line.session != no_log_session) {
    out += name_of(line.session);
    out += ' ';
  }
  append_printable(out, line.first);
  if (line.second.empty()) return;
  out += ": ";
  append_printable(out, line.second);
}

}  // namespace nfx
