// Reads lines from a terminal or pipe with poll(), so that stop() can end the wait, and parses a line as a message.
#include "connect/input.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "decode/scanner.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "nexusfix/wire/standard_fields.hpp"
#include "text.hpp"

namespace nfx::app {
namespace {

bool session_sets(Tag tag) noexcept {
  switch (tag) {
    case Tag::BeginString:
    case Tag::BodyLength:
    case Tag::CheckSum:
    case Tag::MsgSeqNum:
    case Tag::PossDupFlag:
    case Tag::SenderCompID:
    case Tag::SendingTime:
    case Tag::TargetCompID:
    case Tag::OrigSendingTime: return true;
    default: return false;
  }
}

constexpr std::string_view example = ": write fields as 35=D|55=IBM|54=1";

}  // namespace

LineInput::LineInput() : wake_fd_(eventfd(0, EFD_CLOEXEC)) {
  if (wake_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

LineInput::~LineInput() { close(wake_fd_); }

void LineInput::stop() noexcept {
  const std::uint64_t one = 1;
  // Only an overflow of the counter could make it fail.
  static_cast<void>(!::write(wake_fd_, &one, sizeof one));
}

bool LineInput::fill() {
  for (;;) {
    pollfd waits[2]{{STDIN_FILENO, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    if (poll(waits, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (waits[1].revents != 0) return false;
    const ssize_t got = read(STDIN_FILENO, buffer_.data(), buffer_.size());
    if (got < 0 && errno == EINTR) continue;
    at_ = 0;
    size_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    ended_ = got <= 0;
    return true;
  }
}

LineInput::Status LineInput::next(std::string& line) {
  line.clear();
  bool too_long = false;
  bool any = false;
  for (;;) {
    if (at_ == size_) {
      if (!ended_ && !fill()) return Status::stopped;
      if (ended_) break;
    }
    const std::string_view rest{buffer_.data() + at_, size_ - at_};
    const std::size_t end = rest.find('\n');
    const std::string_view piece = rest.substr(0, end);
    any = true;
    too_long = too_long || line.size() + piece.size() > max_line_size;
    if (!too_long) line += piece;
    at_ += piece.size();
    if (end == std::string_view::npos) continue;
    ++at_;
    ++line_number_;
    return too_long ? Status::too_long : Status::line;
  }
  if (!any) return Status::end;
  ++line_number_;
  return too_long ? Status::too_long : Status::line;
}

std::expected<LineMessage, std::string> read_line_message(std::string_view line) {
  std::string text;
  if (line.find(soh) != std::string_view::npos) {
    text = line;
    if (text.back() != soh) text += soh;
  } else {
    to_soh(line, "|", true, text);
  }
  MessageView view{4096};
  const WireError error = view.parse_leniently(text);
  const std::size_t read =
      view.size() == 0 ? 0 : view.offset_at(view.size() - 1) + view[view.size() - 1].value.size() + 1;
  if (read != text.size()) {
    if (error == WireError::too_many_fields) return std::unexpected("more than 4096 fields");
    std::string what{to_string(error)};
    what += " at \"";
    append_printable(what, std::string_view{text}.substr(read, std::min<std::size_t>(text.find(soh, read) - read, 20)));
    return std::unexpected(what + '"' + std::string{example});
  }
  LineMessage message;
  std::string body;
  for (std::uint32_t i = 0; i < view.size(); ++i) {
    const Field field = view[i];
    if (session_sets(field.tag)) continue;
    if (value(field.tag) <= 0) return std::unexpected("tag " + std::to_string(value(field.tag)) + " is not positive");
    if (field.value.empty())
      return std::unexpected(std::to_string(value(field.tag)) + "= has no value: give one or leave the field out");
    if (field.tag == Tag::MsgType) {
      message.msg_type = field.value;
      continue;
    }
    std::string& fields = is_header_tag(field.tag) ? message.body : body;
    fields += std::to_string(value(field.tag)) + '=';
    fields += field.value;
    fields += soh;
  }
  if (message.msg_type.empty()) return std::unexpected("no MsgType(35)" + std::string{example});
  if (is_session_msg_type(message.msg_type)) {
    return std::unexpected("35=" + message.msg_type +
                           " is a message of the session, which sends it by itself: send application messages");
  }
  message.body += body;
  return message;
}

}  // namespace nfx::app
