// docs/architecture.md against the code: its list of the functions that one message passes is compared with the calls
// that an engine makes, and the files and classes that the page names have to exist.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/call_trace.hpp"
#include "engine/call_list.hpp"
#include "nexusfix/dictionary/load.hpp"
#include "nexusfix/engine/engine.hpp"
#include "nexusfix/wire/field_writer.hpp"
#include "nexusfix/wire/standard_fields.hpp"

namespace nfx::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

std::string datagram_page() { return text_of(NFX_SOURCE_DIR "/docs/datagram-to-order.md"); }
std::string architecture_page() { return text_of(NFX_SOURCE_DIR "/docs/architecture.md"); }

// The page and the comparison, in every build.

constexpr std::string_view sample_page =
    "# A page\n\n"
    "| step | function | file | what it does |\n|---|---|---|---|\n"
    "| 1 | `Reader::next` | `src/a.cpp` | reads |\n"
    "| 2 | `parse` | `src/b.cpp` | parses `tag=value` |\n"
    "| 3 | `Reader::next` | `src/a.cpp` | reads again |\n\n"
    "| with | instead of | function | file |\n|---|---|---|---|\n"
    "| `fast` | `parse`, `Reader::next` | `skip` | `src/c.cpp` |\n";

TEST(CallList, is_read_from_the_table_of_a_page) {
  const CallList list = call_list_of(sample_page);
  EXPECT_EQ(list.problem, "");
  const Calls expected{{"Reader::next", "src/a.cpp"}, {"parse", "src/b.cpp"}, {"Reader::next", "src/a.cpp"}};
  EXPECT_EQ(difference(list.calls, expected), "");
  ASSERT_EQ(list.variations.size(), 1u);
  const Calls skipped{{"Reader::next", "src/a.cpp"}, {"skip", "src/c.cpp"}};
  EXPECT_EQ(difference(with(list, "fast"), skipped), "");
}

TEST(CallList, finds_calls_in_another_order_missing_unlisted_or_of_another_file) {
  const Calls listed{{"a", "x"}, {"b", "x"}, {"a", "x"}};
  EXPECT_EQ(difference(listed, listed), "");
  EXPECT_EQ(difference(listed, {{"b", "x"}, {"a", "x"}, {"a", "x"}}),
            "step 1: the page has a in x, the engine called b in x");
  EXPECT_EQ(difference(listed, {{"a", "x"}, {"b", "x"}}),
            "step 3: the page has a in x, the engine called nothing more");
  EXPECT_EQ(difference(listed, {{"a", "x"}, {"b", "x"}, {"a", "x"}, {"c", "x"}}),
            "step 4: the page has nothing more, the engine called c in x");
  EXPECT_EQ(difference(listed, {{"a", "x"}, {"b", "y"}, {"a", "x"}}),
            "step 2: the page has b in x, the engine called b in y");
}

TEST(CallList, reports_a_page_without_a_table_and_steps_that_are_not_counted_up) {
  EXPECT_EQ(call_list_of("# A page\n").problem, "no table begins with: | step | function | file |");
  std::string page{sample_page};
  page.replace(page.find("| 2 |"), 5, "| 5 |");
  EXPECT_EQ(call_list_of(page).problem, "step 2 has the number 5");
}

TEST(CallList, shortens_what_either_compiler_calls_a_function) {
  for (const auto& [pretty, name] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
           {"nfx::Frame nfx::FrameReader::next(std::string_view)", "FrameReader::next"},
           {"Frame nfx::FrameReader::next(std::string_view)", "FrameReader::next"},
           {"std::size_t nfx::PollLoop<T, C>::turn(nfx::Duration) [with T = nfx::EpollTransport; C = nfx::Clock<int "
            "(*)()>]",
            "PollLoop::turn"},
           {"std::size_t nfx::PollLoop<nfx::EpollTransport, nfx::Clock<int (*)()>>::turn(Duration) [T = "
            "nfx::EpollTransport]",
            "PollLoop::turn"},
           {"std::expected<nfx::SeqNum, nfx::SendError> nfx::Session::send(const nfx::Outgoing&)", "Session::send"},
           {"auto nfx::SessionDriver::step(std::size_t, Event&&) [with Event = "
            "nfx::SessionDriver::f()::<lambda()>]",
            "SessionDriver::step"},
           {"nfx::SendResult nfx::detail::TcpRegistry<Self>::try_send(nfx::ConnectionId) [with Self = nfx::X]",
            "TcpRegistry::try_send"},
           {"nfx::Frame nfx::{anonymous}::find_frame(std::string_view)", "find_frame"},
           {"Frame nfx::(anonymous namespace)::find_frame(std::string_view)", "find_frame"},
           {"Application::on_message", "Application::on_message"}}) {
    EXPECT_EQ(short_name(pretty), name) << pretty;
  }
}

TEST(ArchitecturePage, names_only_files_that_exist) {
  const fs::path root{NFX_SOURCE_DIR};
  std::size_t paths = 0;
  for (const std::string& code : code_spans_of(architecture_page() + datagram_page())) {
    if (!looks_like_a_path(code)) continue;
    ++paths;
    std::vector places{root / code, root / "include/nexusfix" / code};
    for (const auto& product : fs::directory_iterator{root / "src"}) places.push_back(product.path() / code);
    EXPECT_TRUE(std::ranges::any_of(places, [](const fs::path& place) { return fs::exists(place); })) << code;
  }
  EXPECT_GT(paths, 40u);
}

TEST(ArchitecturePage, names_only_classes_that_exist) {
  std::string code;
  for (const char* folder : {"/include", "/src"}) {
    for (const auto& entry : fs::recursive_directory_iterator{NFX_SOURCE_DIR + std::string{folder}}) {
      if (entry.path().extension() == ".hpp") code += text_of(entry.path());
    }
  }
  std::size_t classes = 0;
  for (const std::string& name : code_spans_of(architecture_page() + datagram_page())) {
    if (!looks_like_a_class(name)) continue;
    ++classes;
    const bool exists = std::ranges::any_of(std::array{"class ", "struct ", "concept "}, [&](const char* word) {
      return code.find(word + name + ' ') != std::string::npos || code.find(word + name + ';') != std::string::npos;
    });
    EXPECT_TRUE(exists) << name;
  }
  EXPECT_GT(classes, 10u);
}

TEST(ArchitecturePage, lists_with_the_path_of_a_datagram_every_function_that_is_recorded) {
  std::set<std::string> listed;
  for (const std::string& page : {architecture_page(), datagram_page()}) {
    const CallList list = call_list_of(page);
    EXPECT_EQ(list.problem, "");
    for (const Call& call : list.calls) listed.insert(call.function);
    for (const Variation& variation : list.variations) listed.insert(variation.call.function);
  }
  std::size_t recorded = 0;
  for (const char* folder : {"/include", "/src"}) {
    for (const auto& entry : fs::recursive_directory_iterator{NFX_SOURCE_DIR + std::string{folder}}) {
      if (!entry.is_regular_file()) continue;
      const std::string code = text_of(entry.path());
      for (const char* const traced : {"  NFX_TRACE();", "  trace_call();"})
        for (std::size_t at = 0; (at = code.find(traced, at)) != std::string::npos; ++at) ++recorded;
    }
  }
  // Application::on_message and Model::on are the program's own.
  EXPECT_EQ(listed.size() - 2, recorded);
}

// An engine's calls, in builds that record them.

#ifdef NDEBUG

TEST(ArchitecturePage, lists_the_functions_that_a_message_passes_in_their_order) {
  GTEST_SKIP() << "needs a build with assertions: PRESET=debug ./dev test --only engine";
}

#else

// Answers each order with an execution report.
class Venue final : public Application {
 public:
  Handled on_message(SessionHandle& session, const MessageView& message) override {
    detail::trace_call("Application::on_message", "include/nexusfix/engine/application.hpp");
    ++orders;
    std::array<char, 256> buffer;
    FieldWriter body{buffer};
    body.append(Tag::OrderID, orders).append(Tag::ExecID, orders).append(Tag::ExecType, '0');
    body.append(Tag::OrdStatus, '0').append(Tag::ClOrdID, message.get_view(Tag::ClOrdID));
    EXPECT_TRUE(session.send({.msg_type = msg_type::execution_report, .body = body.view()}));
    return Handled::done;
  }
  std::size_t orders = 0;
};

class Trader final : public Application {
 public:
  Handled on_message(SessionHandle&, const MessageView&) override {
    ++reports;
    return Handled::done;
  }
  std::size_t reports = 0;
};

SessionSettings session_of(Role role, std::string_view own, std::string_view peer) {
  SessionSettings settings;
  settings.session.role = role;
  settings.session.sender_comp_id = own;
  settings.session.target_comp_id = peer;
  return settings;
}

// A venue and a trader: two engines in this thread, with TCP over this host's loopback interface between them.
class OneMessage {
 public:
  OneMessage(SessionSettings accepting, IdleMode idle) {
    static const auto dictionary =
        std::make_shared<const Dictionary>(load_dictionary(NFX_SOURCE_DIR "/dictionaries/FIX44.xml"));
    accepting.dictionary = dictionary;
    accepting.session.dictionary = dictionary.get();
    accepting.listen = {"127.0.0.1", 0};
    EngineConfig config;
    config.transport = TransportKind::epoll;
    config.idle = idle;
    config.warm_up_interval = {};  // a rehearsal calls the same functions
    config.max_message_size = 8192;
    config.sessions = {std::move(accepting)};
    venue_engine_ = std::make_unique<Engine>(config, venue_);
    venue_engine_->start();
    config.idle = IdleMode::yield;
    config.sessions = {session_of(Role::initiator, "TRADER", "VENUE")};
    config.sessions[0].connect = {*venue_engine_->local_endpoint(0)};
    trader_engine_ = std::make_unique<Engine>(config, trader_);
    trader_engine_->start();
    turn_until([this] { return trader_engine_->session(0)->logged_on() && venue_engine_->session(0)->logged_on(); });
  }

  // The calls of the iteration that receives an order and sends the answer.
  Calls record() {
    EXPECT_TRUE(order());
    trader_engine_->turn(Duration::zero());
    const std::size_t before = venue_.orders;
    detail::CallTrace trace;
    for (int i = 0; i < most_turns && venue_.orders == before; ++i) {
      trace.clear();
      const detail::InstallCallTrace installed{trace};
      venue_engine_->turn(1ms);
    }
    EXPECT_EQ(venue_.orders, before + 1);
    EXPECT_FALSE(trace.full()) << "raise CallTrace::capacity";
    turn_until([this] { return trader_.reports == venue_.orders; });
    Calls calls;
    for (const detail::TracedCall& call : trace.calls())
      calls.push_back({short_name(call.function), path_in_tree(call.file, NFX_SOURCE_DIR)});
    return calls;
  }

 private:
  static constexpr int most_turns = 100'000;

  bool order() {
    std::array<char, 256> buffer;
    FieldWriter body{buffer};
    SessionHandle& session = *trader_engine_->session(0);
    body.append(Tag::ClOrdID, venue_.orders + 1).append(Tag::Symbol, "MSFT").append(Tag::Side, '1');
    body.append(Tag::TransactTime, session.now().utc).append(Tag::OrderQty, 100).append(Tag::OrdType, '1');
    return session.send({.msg_type = msg_type::new_order_single, .body = body.view()}).has_value();
  }
  template <class Condition>
  void turn_until(Condition&& condition) {
    for (int i = 0; i < most_turns && !condition(); ++i) {
      trader_engine_->turn(Duration::zero());
      venue_engine_->turn(1ms);
    }
    ASSERT_TRUE(condition());
  }

  Venue venue_;
  Trader trader_;
  std::unique_ptr<Engine> venue_engine_, trader_engine_;
};

// On failure it prints the recorded calls as rows for the page.
void expect_same(const Calls& listed, const Calls& called) {
  EXPECT_EQ(difference(listed, called), "") << "called were:\n" << rows_of(called);
}

TEST(ArchitecturePage, lists_the_functions_that_a_message_passes_in_their_order) {
  const CallList list = call_list_of(architecture_page());
  ASSERT_EQ(list.problem, "");
  OneMessage message{session_of(Role::acceptor, "VENUE", "TRADER"), IdleMode::block};
  message.record();  // the first of a session
  expect_same(list.calls, message.record());
  expect_same(list.calls, message.record());
  Calls reordered = list.calls;
  std::swap(reordered[10], reordered[11]);
  EXPECT_NE(difference(reordered, message.record()), "");
}

TEST(ArchitecturePage, lists_what_a_busy_polling_thread_calls_instead) {
  const CallList list = call_list_of(architecture_page());
  ASSERT_EQ(list.problem, "");
  OneMessage message{session_of(Role::acceptor, "VENUE", "TRADER"), IdleMode::spin};
  message.record();
  Calls called = message.record();
  // One poll in 32 goes through epoll all the same.
  const auto waited = [](const Call& call) { return call.function == "EpollTransport::wait_and_serve"; };
  for (int i = 0; i < 10 && std::ranges::any_of(called, waited); ++i) called = message.record();
  expect_same(with(list, "idle = \"spin\""), called);
}

TEST(ArchitecturePage, lists_what_a_session_with_a_journal_calls_instead) {
  const CallList list = call_list_of(architecture_page());
  ASSERT_EQ(list.problem, "");
  const fs::path folder = fs::path{::testing::TempDir()} / ("nfx-one-message-" + std::to_string(::getpid()));
  SessionSettings settings = session_of(Role::acceptor, "VENUE", "TRADER");
  settings.store_kind = StoreKind::journal;
  settings.journal.directory = folder / "store";
  settings.journal.ring_directory = folder / "ring";
  settings.journal.segment_size = 64 * 1024;
  settings.journal.ring_size = 64 * 1024;
  {
    OneMessage message{std::move(settings), IdleMode::block};
    message.record();
    expect_same(with(list, "store = \"journal\""), message.record());
  }
  fs::remove_all(folder);
}

#endif

}  // namespace
}  // namespace nfx::test
