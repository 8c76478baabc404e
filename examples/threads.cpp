// Three threads send orders through one session, which belongs to its poll thread: they give their messages to
// Engine::submit, which does not block, and on_submitted() gets the results. main() runs an Engine of its own.
//   ./desk desk.toml         in one terminal
//   ./threads trader.toml    in another one, until Ctrl-C
#include <nexusfix/engine.hpp>
#include <nexusfix/engine/program.hpp>
#include <nexusfix/fix44.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <syncstream>
#include <thread>
#include <vector>

namespace fix = nfx::fix44;

void say(std::string_view line) { std::osyncstream{std::cout} << line << std::endl; }

// Its functions are called on the poll thread.
struct Trader : nfx::TypedApplication<Trader, fix::Messages> {
  void on_submitted(const nfx::Submitted& submitted) override {
    const std::string ticket = "ticket " + std::to_string(submitted.ticket) + " ";
    if (submitted.result) return say(ticket + "sent as message " + std::to_string(value(*submitted.result)));
    say(ticket + "not sent: " + std::string{to_string(submitted.result.error())});
  }
  void on(nfx::SessionHandle&, const fix::ExecutionReport& report) {
    say("confirmed " + std::string{report.cl_ord_id()});
  }
  void on_logon(nfx::SessionHandle&) override { say("logged on"); }
  void on_logout(nfx::SessionHandle&, std::string_view reason) override { say("ended: " + std::string{reason}); }
};

// On a thread of its own: an order every 50 ms.
void trade(const std::stop_token& stop, nfx::Engine& engine, int thread) {
  constexpr std::size_t session = 0;  // the first one in the configuration; Engine::find_session() finds others by name
  std::array<char, 512> buffer;
  for (int number = 1; !stop.stop_requested(); ++number) {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    const std::string id = std::to_string(thread) + "-" + std::to_string(number);
    fix::NewOrderSingleBuilder order{buffer};
    order.cl_ord_id(id).symbol("ALFA").side(fix::Side::buy).order_qty(100);
    order.ord_type(fix::OrdType::market).transact_time(std::chrono::system_clock::now());
    // Without while_logged_off = keep an order is refused now rather than sent after the next logon, at another price.
    const nfx::SubmitResult result = engine.submit(session, order, {.report = true});
    if (result) {
      say("ticket " + std::to_string(result.ticket) + " is order " + id);
    } else {
      say("order " + id + " refused: " + std::string{to_string(result.status)});  // also when the queue is full
    }
  }
}

int main(int argc, char** argv) try {
  if (argc != 2) return std::fputs("usage: threads CONFIG\n", stderr), 2;
  Trader trader;
  nfx::Engine engine{nfx::load_config(argv[1]), trader};
  const nfx::StopOnSignal stop{engine};
  std::vector<std::jthread> threads;  // after the engine, so that they end before it does
  for (int thread = 1; thread <= 3; ++thread) threads.emplace_back(trade, std::ref(engine), thread);
  engine.run();  // this thread is the poll thread
} catch (const std::exception&) {
  return nfx::report_exception("threads");
}
