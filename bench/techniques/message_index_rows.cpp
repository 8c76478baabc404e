// The index of a memory store, keyed by MsgSeqNum: look-up and insert, in the orders that a session has. All indexes
// store the same messages, and each is compared with the bytes before it is timed.
#include <malloc.h>

#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "harness/random.hpp"
#include "store/memory_message_store.hpp"
#include "techniques/message_indexes.hpp"
#include "techniques/rows.hpp"

namespace nfx::bench {
namespace {

constexpr std::uint32_t message_size = 24;
constexpr std::uint32_t batch = 256;
constexpr std::uint64_t resend_length = 64;

using Questions = std::vector<std::uint64_t>;  // sequence numbers

// The bytes of a message follow from its number.
std::array<char, message_size> message_of(std::uint64_t seq) {
  std::array<char, message_size> bytes;
  const std::uint64_t mixed = Random{seq}.next();
  std::memcpy(bytes.data(), &seq, 8);
  std::memcpy(bytes.data() + 8, &mixed, 8);
  std::memcpy(bytes.data() + 16, &seq, 8);
  return bytes;
}

MessagePlace place_of(std::uint64_t seq) {
  return {static_cast<std::uint32_t>((seq - 1) * message_size), message_size};
}

std::size_t allocated() noexcept {
  const auto info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

class Subject {
 public:
  Subject() = default;
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  virtual ~Subject() = default;
  [[nodiscard]] virtual const char* name() const = 0;
  // Stores the messages 1 to `messages`; throws WrongAnswerError unless each is found, and no other.
  virtual void fill(std::uint64_t messages, const std::vector<char>& bytes) = 0;
  [[nodiscard]] virtual Figures time_lookups(const Questions& questions, const TechniqueTools& tools) const = 0;
  [[nodiscard]] virtual Figures time_inserts(std::uint64_t messages, std::uint32_t at_least,
                                             const TechniqueTools& tools) const = 0;
  double bytes_a_message = 0;
};

// `find(seq)` gives the length of the message; 0 when it is missing.
template <class Find>
Figures time_questions(const Questions& questions, const TechniqueTools& tools, const Find& find) {
  std::uint64_t ticks = 0, batches = 0, length = 0;
  for (std::size_t at = 0; at + batch <= questions.size(); at += batch, ++batches) {
    const std::uint64_t begin = ticks_before();
    for (std::size_t i = at; i < at + batch; ++i) length += find(questions[i]);
    ticks += ticks_after() - begin;
  }
  if (length != batches * batch * message_size) throw WrongAnswerError("an index found other messages");
  Timings timings{tools};
  for (const std::uint64_t seq : questions) {
    timings.time([&] { keep(find(seq)); });
  }
  Figures figures = timings.figures();
  const double own = static_cast<double>(batches) * tools.stamp_cost;
  figures.mean = tools.clock.to_ns(static_cast<double>(ticks) - own) / static_cast<double>(batches * batch);
  return figures;
}

template <class Index>
class IndexSubject final : public Subject {
 public:
  const char* name() const override { return Index::name; }

  void fill(std::uint64_t messages, const std::vector<char>& bytes) override {
    const std::size_t before = allocated();
    index_ = std::make_unique<Index>(messages);
    for (std::uint64_t seq = 1; seq <= messages; ++seq) index_->insert(seq, place_of(seq));
    bytes_a_message = static_cast<double>(allocated() - before) / static_cast<double>(messages);
    for (std::uint64_t seq = 1; seq <= messages; ++seq) {
      const MessagePlace* const place = index_->find(seq);
      const auto expected = message_of(seq);
      if (place == nullptr || place->length != message_size ||
          std::memcmp(bytes.data() + place->offset, expected.data(), message_size) != 0)
        throw WrongAnswerError(std::string{name()} + ": message " + std::to_string(seq) + " is another one");
    }
    if (index_->find(0) != nullptr || index_->find(messages + 1) != nullptr)
      throw WrongAnswerError(std::string{name()} + " finds what was never stored");
  }

  Figures time_lookups(const Questions& questions, const TechniqueTools& tools) const override {
    return time_questions(questions, tools, [&index = *index_](std::uint64_t seq) {
      const MessagePlace* const place = index.find(seq);
      return place == nullptr ? 0U : place->length;
    });
  }

  Figures time_inserts(std::uint64_t messages, std::uint32_t at_least, const TechniqueTools& tools) const override {
    Timings timings{tools};
    for (std::uint64_t done = 0; done < at_least; done += messages) {
      Index fresh{messages};
      for (std::uint64_t seq = 1; seq <= messages; ++seq) {
        timings.time([&] { fresh.insert(seq, place_of(seq)); });
      }
      if (fresh.find(messages) == nullptr) throw WrongAnswerError(std::string{name()} + " lost a message");
    }
    return timings.figures();
  }

 private:
  std::unique_ptr<Index> index_;
};

// The product's store as a whole: its read() gives the message's bytes, its append() copies them.
class StoreSubject final : public Subject {
 public:
  const char* name() const override { return "NexusFIX MemoryMessageStore"; }

  void fill(std::uint64_t messages, const std::vector<char>& bytes) override {
    store_ = make(messages);
    for (std::uint64_t seq = 1; seq <= messages; ++seq)
      store_->append(SeqNum{seq}, {bytes.data() + place_of(seq).offset, message_size});
    bytes_a_message = 16.0 * static_cast<double>(std::bit_ceil(messages)) / static_cast<double>(messages);
    for (std::uint64_t seq = 1; seq <= messages; ++seq) {
      const auto found = store_->read(SeqNum{seq});
      const auto expected = message_of(seq);
      if (!found || *found != std::string_view{expected.data(), message_size})
        throw WrongAnswerError(std::string{name()} + ": message " + std::to_string(seq) + " is another one");
    }
  }

  Figures time_lookups(const Questions& questions, const TechniqueTools& tools) const override {
    return time_questions(questions, tools, [&store = *store_](std::uint64_t seq) {
      const auto found = store.read(SeqNum{seq});
      return found ? static_cast<std::uint32_t>(found->size()) : 0U;
    });
  }

  Figures time_inserts(std::uint64_t messages, std::uint32_t at_least, const TechniqueTools& tools) const override {
    Timings timings{tools};
    for (std::uint64_t done = 0; done < at_least; done += messages) {
      const auto fresh = make(messages);
      for (std::uint64_t seq = 1; seq <= messages; ++seq) {
        const auto bytes = message_of(seq);
        timings.time([&] { fresh->append(SeqNum{seq}, {bytes.data(), bytes.size()}); });
      }
      if (!fresh->read(SeqNum{messages})) throw WrongAnswerError("the store lost a message");
    }
    return timings.figures();
  }

 private:
  static std::unique_ptr<MemoryMessageStore> make(std::uint64_t messages) {
    auto store = std::make_unique<MemoryMessageStore>(
        MemoryStoreOptions{.retain_messages = messages, .retain_bytes = (messages + 1) * message_size});
    store->prefault();
    return store;
  }
  std::unique_ptr<MemoryMessageStore> store_;
};

std::vector<std::unique_ptr<Subject>> make_subjects() {
  std::vector<std::unique_ptr<Subject>> subjects;
  subjects.push_back(std::make_unique<IndexSubject<StdIndex>>());
  subjects.push_back(std::make_unique<IndexSubject<AbslIndex>>());
#ifdef NFX_BENCH_BOOST_FLAT_MAP
  subjects.push_back(std::make_unique<IndexSubject<BoostIndex>>());
#endif
  subjects.push_back(std::make_unique<IndexSubject<DenseIndex>>());
  subjects.push_back(std::make_unique<StoreSubject>());
  return subjects;
}

struct Access {
  const char* name;
  std::uint64_t run;  // numbers that follow each other; 0: all of them
};
constexpr Access accesses[] = {{"sequential", 0}, {"resend range", resend_length}, {"random", 1}};

Questions make_questions(const Access& access, std::uint64_t messages, std::uint32_t count, Random& random) {
  Questions questions(count);
  std::uint64_t seq = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const bool jump = access.run != 0 && i % access.run == 0;
    seq = jump ? random.below(messages) + 1 : seq % messages + 1;
    questions[i] = seq;
  }
  return questions;
}

std::string memory_note(const Subject& subject) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f bytes a message", subject.bytes_a_message);
  return text;
}

void add_absent(std::vector<RepeatedRow>& rows, const std::string& section) {
#ifndef NFX_BENCH_BOOST_FLAT_MAP
  rows.push_back(
      empty_row(section, "boost::unordered_flat_map", false, "its headers were not found (package libboost1.81-dev)"));
#else
  (void)rows, (void)section;
#endif
}

RepeatedGroup measure_size(std::uint64_t messages, const TechniqueOptions& options, const TechniqueTools& tools) {
  RepeatedGroup group{"message index, " + with_commas(messages),
                      "ns to find or store a message by MsgSeqNum; mean in batches of 256, the rest single",
                      {}};
  std::vector<char> bytes(messages * message_size);
  for (std::uint64_t seq = 1; seq <= messages; ++seq) {
    std::memcpy(bytes.data() + place_of(seq).offset, message_of(seq).data(), message_size);
  }
  const auto subjects = make_subjects();
  for (const auto& subject : subjects) subject->fill(messages, bytes);
  // Every insert of a large store is timed, so that one repeat has a hundred times the operations of the others.
  const std::uint32_t insert_repeats = messages > 1'000'000 ? 1 : options.repeats;
  const auto rows_of = [&](const std::string& section, std::uint32_t repeats, const auto& measure_one) {
    const std::size_t first = group.rows.size();
    for (const auto& subject : subjects) {
      group.rows.push_back(empty_row(section, subject->name(), subject == subjects.front(), memory_note(*subject)));
    }
    for (std::uint32_t repeat = 0; repeat < repeats; ++repeat) {
      for (std::size_t i = 0; i < subjects.size(); ++i) {
        run_repeat(group.rows[first + i], tools.counters, options.operations,
                   [&] { return measure_one(*subjects[i], repeat); });
      }
    }
    add_absent(group.rows, section);
  };
  for (const Access& access : accesses) {
    Questions questions;
    rows_of(std::string{"look-up, "} + access.name, options.repeats, [&](const Subject& subject, std::uint32_t repeat) {
      Random random{options.seed + repeat};  // the same questions for all indexes
      questions = make_questions(access, messages, options.operations, random);
      std::ignore = subject.time_lookups({questions.begin(), questions.begin() + options.operations / 10}, tools);
      return subject.time_lookups(questions, tools);
    });
  }
  rows_of("insert, ascending", insert_repeats, [&](const Subject& subject, std::uint32_t) {
    return subject.time_inserts(messages, options.operations, tools);
  });
  return group;
}

}  // namespace

std::vector<RepeatedGroup> message_index_groups(const TechniqueOptions& options, const TechniqueTools& tools) {
  std::vector<RepeatedGroup> groups;
  for (std::uint64_t messages = 1000; messages <= options.largest; messages *= 10) {
    groups.push_back(measure_size(messages, options, tools));
  }
  return groups;
}

}  // namespace nfx::bench
