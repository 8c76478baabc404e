// The parts of the path: readers and indexes are template arguments, so that each combination is compiled as if it were
// the only one.
#include "techniques/path.hpp"

#include <liburing.h>

#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/measure.hpp"
#include "nexusfix/concurrent/deferred_processor.hpp"
#include "nexusfix/placement/cpu_affinity.hpp"
#include "nexusfix/wire/encoder.hpp"
#include "nexusfix/wire/message_view.hpp"
#include "observe/message_text.hpp"
#include "techniques/message_indexes.hpp"
#include "techniques/ring.hpp"
#include "wire/ladder_parser.hpp"
#include "wire/report_encoder.hpp"
#include "wire/typed_reads.hpp"

namespace nfx::bench {
namespace {

constexpr std::uint64_t retained = 65536;      // messages of the store
constexpr std::uint64_t resent_distance = 50;  // the report looked up is this many before
constexpr std::size_t store_bytes = retained * 512;

// A line of the log: the time, then the message with readable delimiters.
class Log {
 public:
  void write(std::string_view message, std::uint64_t stamp) {
    if (lines_.size() > buffer_size - 4096) lines_.clear();
    const std::size_t begin = lines_.size();
    const UtcTime time{Duration{static_cast<std::int64_t>(stamp)}};
    lines_.append(text_.data(), time_.write(text_.data(), time, 9));
    lines_ += ' ';
    append_message_text(lines_, message, {});
    lines_ += '\n';
    written_ += lines_.size() - begin;
  }
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

 private:
  static constexpr std::size_t buffer_size = 1 << 20;
  UtcTimestampWriter time_;
  std::array<char, max_utc_timestamp_size> text_{};
  std::string lines_ = std::string(buffer_size, '\0').substr(0, 0);
  std::uint64_t written_ = 0;
};

using Buffer = DeferredBuffer<496>;
using Deferred = DeferredProcessor<Buffer, 4096>;

struct ViewReader {
  MessageView view{96};
  bool parse(std::string_view message) { return view.parse(message) == WireError::none; }
  [[nodiscard]] std::string_view get_view(Tag tag) const { return view.get_view(tag); }
};
using CopyingReader = LadderParser<Techniques{}>;
using CopyingVectorReader = LadderParser<Techniques{.simd_scan = true}>;

template <class Index>
class Store {
 public:
  void append(std::uint64_t seq, std::string_view bytes) {
    if (seq > retained) index_.forget(seq - retained);
    if (head_ + bytes.size() > bytes_.size()) head_ = 0;
    std::memcpy(bytes_.data() + head_, bytes.data(), bytes.size());
    index_.insert(seq, {static_cast<std::uint32_t>(head_), static_cast<std::uint32_t>(bytes.size())});
    head_ += bytes.size();
  }
  [[nodiscard]] std::string_view read(std::uint64_t seq) const {
    const MessagePlace* const place = index_.find(seq);
    return place == nullptr ? std::string_view{} : std::string_view{bytes_.data() + place->offset, place->length};
  }

 private:
  Index index_{retained};
  std::vector<char> bytes_ = std::vector<char>(store_bytes);
  std::size_t head_ = 0;
};

unsigned ring_flags(const PathTechniques& on) {
  return on.defer_taskrun ? IORING_SETUP_COOP_TASKRUN | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN : 0;
}

template <class Reader, class Index>
class PathOf final : public Path {
 public:
  PathOf(const PathTechniques& on, const PathPlaces& places) : ring_(ring_flags(on), places.other) {
    if (!on.deferred) return;
    deferred_.emplace(
        [this](const Buffer& buffer) { log_.write({buffer.view().data(), buffer.view().size()}, buffer.stamp()); },
        DeferredOptions{.when_full = WhenFull::block, .block_limit = std::chrono::seconds{10}, .spill_bytes = 0});
    const int cpu = static_cast<int>(places.other);
    deferred_->start({.idle = IdleMode::spin, .longest_sleep = std::chrono::milliseconds{10}, .on_start = [on, cpu] {
                        if (on.pinned && !CpuAffinity::pin_to_core(cpu))
                          throw std::runtime_error("cannot pin the worker");
                      }});
  }

  void deliver(std::string_view order) override {
    if (::send(pair_.ends[0], order.data(), order.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(order.size()))
      throw std::runtime_error("the socket does not take an order");
  }

  std::uint64_t process(std::size_t order_size) override {
    ring_.prepare_receive(pair_.ends[1], in_.data(), order_size);
    ring_.submit_and_wait();
    const std::string_view order{in_.data(), order_size};
    if (!reader_.parse(order)) throw WrongAnswerError("an order is not parsed");
    const std::uint64_t sum = read_eight<order_readings>([this](Tag tag) { return reader_.get_view(tag); });
    const std::uint64_t seq = ++seq_;
    const std::string_view report = encode(seq);
    store_.append(seq, report);
    if (seq > resent_distance && store_.read(seq - resent_distance).empty())
      throw WrongAnswerError("the store lost a report");
    write_log(order, seq);
    write_log(report, seq);
    ring_.prepare_send(pair_.ends[1], report.data(), report.size());
    ring_.submit_and_wait();
    report_size_ = report.size();
    return sum;
  }

  std::string_view collect() override {
    if (::recv(pair_.ends[0], out_.data(), report_size_, MSG_WAITALL) != static_cast<ssize_t>(report_size_))
      throw WrongAnswerError("the report is shorter than what was sent");
    return {out_.data(), report_size_};
  }

  std::uint64_t finish() override {
    if (deferred_) deferred_->stop();
    return log_.written();
  }

 private:
  std::string_view encode(std::uint64_t seq) {
    encoder_.begin(header_, "8", SeqNum{seq}, UtcTime{std::chrono::milliseconds{1'700'000'000'000 + seq}});
    encoder_.fields()
        .template append<Tag::OrderID>("EX200000")
        .template append<Tag::ClOrdID>(reader_.get_view(Tag::ClOrdID))
        .template append<Tag::ExecID>("E300000")
        .template append<Tag::ExecType>('0')
        .template append<Tag::OrdStatus>('0')
        .template append<Tag::Symbol>(reader_.get_view(Tag::Symbol))
        .template append<Tag::Side>(reader_.get_view(Tag::Side))
        .template append<Tag::OrderQty>(reader_.get_view(Tag::OrderQty))
        .template append<Tag::Price>(reader_.get_view(Tag::Price))
        .template append<Tag::LeavesQty>(reader_.get_view(Tag::OrderQty))
        .template append<Tag::CumQty>(std::int64_t{0})
        .template append<Tag::AvgPx>(std::int64_t{0})
        .template append<Tag::TransactTime>(reader_.get_view(Tag::TransactTime));
    return encoder_.finish();
  }

  void write_log(std::string_view message, std::uint64_t stamp) {
    if (deferred_) {
      if (!deferred_->submit(message, stamp)) throw WrongAnswerError("a log line was dropped");
    } else {
      log_.write(message, stamp);
    }
  }

  SocketPair pair_;
  Ring ring_;
  Reader reader_;
  std::array<char, 1024> buffer_{};
  Encoder encoder_{buffer_};
  HeaderTemplate header_{HeaderTexts{.begin_string = "FIX.4.4", .sender_comp_id = "VENUE", .target_comp_id = "TRADER"}};
  Store<Index> store_;
  Log log_;
  std::optional<Deferred> deferred_;
  std::array<char, 1024> in_{}, out_{};
  std::size_t report_size_ = 0;
  std::uint64_t seq_ = 0;
};

template <class Reader>
std::unique_ptr<Path> with_index(const PathTechniques& on, const PathPlaces& places) {
  if (on.dense_index) return std::make_unique<PathOf<Reader, DenseIndex>>(on, places);
  return std::make_unique<PathOf<Reader, StdIndex>>(on, places);
}

}  // namespace

std::unique_ptr<Path> make_path(const PathTechniques& on, const PathPlaces& places) {
  const kernels::KernelList list = kernels::available_kernels();
  kernels::use_kernels(on.vector_code ? *list.tables[list.count - 1] : *list.tables[0]);
  const CpuSet all{static_cast<int>(places.core), static_cast<int>(places.other)};
  const AffinityResult placed =
      on.pinned ? CpuAffinity::pin_to_core(static_cast<int>(places.core)) : CpuAffinity::set(all);
  if (!placed) throw std::runtime_error("cannot choose the CPU: " + placed.message());
  if (on.views) return with_index<ViewReader>(on, places);
  if (on.vector_code) return with_index<CopyingVectorReader>(on, places);
  return with_index<CopyingReader>(on, places);
}

}  // namespace nfx::bench
