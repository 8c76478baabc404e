// Whatever a stream returns, an accepted frame is one that an owner writes, byte for byte, and an owner that receives
// the bytes at any point of a takeover or of its ownership follows its rules. Each line of the input is a frame: "e
// NUMBER EPOCH GATEWAY INBOUND OUTBOUND LIMIT", or "r", the same, followed by records "i SEQ", "o SEQ BYTES", "z"; any
// other line is raw bytes.
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/crc32c.hpp"
#include "cluster/owner.hpp"
#include "fuzz_target.hpp"

extern "C" const FuzzTarget nfx_fuzz_target{.format = FuzzFormat::text, .mutations = 60000};

namespace {

using namespace nfx::cluster;
using nfx::SeqNum;
using nfx::fuzz::require;

class Words {
 public:
  explicit Words(std::string_view line) : rest_(line) {}
  std::string_view next() {
    const std::size_t end = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return word;
  }
  std::uint64_t number() {
    const std::string_view word = next();
    std::uint64_t value = 0;
    static_cast<void>(std::from_chars(word.data(), word.data() + word.size(), value));
    return value;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

void put(std::string& bytes, std::size_t at, const void* from, std::size_t size) {
  std::memcpy(bytes.data() + at, from, size);
}

// Like seal_frame(), but also for values that no owner writes.
std::string frame_of(std::string_view line) {
  if (!line.starts_with("e ") && !line.starts_with("r ")) return std::string{line};
  Words words{line};
  FrameHeader header{.magic = frame_magic, .version = frame_version};
  header.kind = words.next() == "e" ? FrameKind::epoch : FrameKind::records;
  header.session = SessionId{1};
  header.number = FrameNumber{words.number()};
  header.epoch = Epoch{words.number()};
  header.gateway = GatewayId{words.number()};
  header.first_inbound = SeqNum{words.number()};
  header.first_outbound = SeqNum{words.number()};
  header.outbound_limit = SeqNum{words.number()};
  header.attempt = header.kind == FrameKind::epoch ? 1 : 0;
  std::string bytes(sizeof header, '\0');
  while (!words.empty()) {
    const std::string_view kind = words.next();
    RecordHeader record{.kind = kind == "i"   ? RecordKind::inbound
                                : kind == "o" ? RecordKind::outbound
                                : kind == "z" ? RecordKind::reset
                                              : RecordKind{9}};
    if (kind == "i" || kind == "o") record.seq = words.number();
    const std::string_view text = kind == "o" ? words.next() : std::string_view{};
    record.size = static_cast<std::uint32_t>(text.size());
    const std::size_t at = bytes.size();
    bytes.resize(at + sizeof record + text.size());
    put(bytes, at, &record, sizeof record);
    put(bytes, at + sizeof record, text.data(), text.size());
    ++header.record_count;
  }
  header.records_size = static_cast<std::uint32_t>(bytes.size() - sizeof header);
  put(bytes, 0, &header, sizeof header);
  header.crc = nfx::crc32c(std::string_view{bytes}.substr(80), nfx::crc32c(std::string_view{bytes}.substr(0, 76)));
  put(bytes, 0, &header, sizeof header);
  return bytes;
}

void check_frame(const std::string& bytes, std::string_view text) {
  FrameView frame;
  if (decode_frame(bytes, frame) != FrameError::none) return;
  require(frame.bytes.size() == bytes.size() && bytes.size() <= max_frame_size, "a frame is the whole text", text);
  // Formatting the parsed frame gives the same bytes.
  std::string again(sizeof(FrameHeader), '\0');
  std::uint32_t count = 0;
  Counters end{.inbound = frame.header.first_inbound, .outbound = frame.header.first_outbound};
  for (std::string_view rest = frame.records; !rest.empty(); ++count) {
    const Record record = take_record(rest);
    require(advance(end, record), "each record follows", text);
    const std::size_t at = again.size();
    again.resize(at + record_size(record.bytes.size()));
    write_record(std::span{again}.subspan(at), record);
  }
  require(count == frame.header.record_count && end == frame.end, "records are counted", text);
  seal_frame(again, frame.header, count);
  require(again == bytes, "a frame is written as it was read", text);
  const Counters next = counters_after(frame);
  require(next.outbound >= frame.end.outbound && next.inbound == frame.end.inbound, "no number is used again", text);
}

// A server that returns these frames for any request, and stores whatever is published: the owner ends in some phase,
// releases only stored records, and makes a bounded number of requests.
void check_owner(const std::vector<std::string>& frames, Durability durability, std::string_view text) {
  OwnerOptions options{.session = SessionId{1}, .gateway = GatewayId{7}, .durability = durability};
  options.frame_bytes_max = 1024;
  options.pending_bytes_max = 4096;
  options.useless_answers_max = 8;
  options.claims_max = 4;
  OwnerState owner{options};
  nfx::MonotonicTime now{std::chrono::seconds{100}};
  std::vector<std::string> stored = frames;
  std::uint64_t appended = 0;
  Event event{.kind = EventKind::want};
  std::string bytes;
  for (int i = 0; i < 200; ++i) {
    Actions actions;
    step(owner, event, now, actions);
    now += std::chrono::milliseconds{100};
    event = {.kind = EventKind::timer};
    for (const Action& action : actions.list()) {
      if (action.kind == ActionKind::release) require(action.count <= appended, "nothing else is released", text);
      if (action.kind == ActionKind::publish) {
        stored.emplace_back(action.bytes);
        FrameView frame;
        require(decode_frame(action.bytes, frame) == FrameError::none, "an owner publishes frames", text);
        event = {.kind = EventKind::stored, .request = action.request, .sequence = StreamSeq{stored.size()}};
      }
      if (action.kind == ActionKind::read_last || action.kind == ActionKind::read_next) {
        const std::uint64_t wanted =
            action.kind == ActionKind::read_last ? stored.size() : std::to_underlying(action.sequence) + 1;
        event = {.kind = EventKind::none, .request = action.request};
        if (wanted == 0 || wanted > stored.size()) continue;
        bytes = stored[wanted - 1];
        event = {.kind = EventKind::found, .request = action.request, .sequence = StreamSeq{wanted}, .bytes = bytes};
      }
    }
    if (event.kind == EventKind::timer && owner.phase == Phase::idle) return;
    if (event.kind == EventKind::timer && has_space(owner, RecordKind::outbound, 3) && appended < 20) {
      ++appended;
      event = {.kind = EventKind::append, .record = {RecordKind::outbound, owner.counters.outbound, "abc"}};
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = nfx::fuzz::text_of(data, size);
  std::vector<std::string> frames;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    frames.push_back(frame_of(text.substr(begin, end - begin)));
    check_frame(frames.back(), text);
    begin = end + 1;
  }
  check_frame(std::string{text}, text);
  check_owner(frames, Durability::replicated, text);
  check_owner(frames, Durability::async, text);
  return 0;
}
