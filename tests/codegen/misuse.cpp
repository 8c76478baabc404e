// Code that a compiler must reject or warn about, each with the expected text, which misuse_test.py compares. Not
// built.
#include <nexusfix/engine.hpp>
#include <nexusfix/fix42/new_order_single.hpp>
#include <nexusfix/fix44/dispatch.hpp>
#include <nexusfix/fix44/execution_report.hpp>
#include <nexusfix/fix44/new_order_single.hpp>

#include <string>
#include <tuple>
#include <utility>

namespace fix = nfx::fix44;

class PrivateOn
    : public nfx::TypedApplication<PrivateOn, fix::Messages> {  // refused: no on() takes a message of Messages
  nfx::Sent on(nfx::SessionHandle&, const fix::NewOrderSingle&);
};
struct OtherVersion
    : nfx::TypedApplication<OtherVersion, fix::Messages> {  // refused: no on() takes a message of Messages
  nfx::Sent on(nfx::SessionHandle&, const nfx::fix42::NewOrderSingle&);
};
struct Swapped : nfx::TypedApplication<Swapped, fix::Messages> {  // refused: no on() takes a message of Messages
  nfx::Sent on(const fix::NewOrderSingle&, nfx::SessionHandle&);
};
struct OtherName : nfx::TypedApplication<OtherName, fix::Messages> {  // refused: no on() takes a message of Messages
  nfx::Sent On(nfx::SessionHandle&, const fix::NewOrderSingle&);
};
struct Mutable : nfx::TypedApplication<Mutable, fix::Messages> {
  nfx::Sent on(nfx::SessionHandle&, fix::NewOrderSingle&);  // refused: on() takes its message by const reference
  nfx::Sent on(nfx::SessionHandle&, const fix::ExecutionReport&);
};
PrivateOn private_on;
OtherVersion other_version;
Swapped swapped;
OtherName other_name;
Mutable with_mutable;

void ignored_result(nfx::SessionHandle& session) {
  session.send({.msg_type = "B", .body = "58=a\x01"});  // refused: ignoring return value
}
void ignored_answer(nfx::SessionHandle& session, const fix::NewOrderSingle& order) {
  auto report = session.create<fix::ExecutionReport>();
  report.send_or_reject(order);  // refused: ignoring return value
}
void ignored_refusal(nfx::SessionHandle& session, const nfx::MessageView& message) {
  session.reject_business(message, nfx::BusinessRejectReason::other, "no");  // refused: ignoring return value
}
void dangling_body(nfx::SessionHandle& session) {
  std::ignore = session.send({.msg_type = "B", .body = std::string{"58=a\x01"}});  // refused: use of deleted function
}
void draft_that_moves(nfx::SessionHandle& session) {
  auto report = session.create("8");
  auto kept = std::move(report);  // refused: use of deleted function
}
void reader_of_nothing() {
  const fix::NewOrderSingle order{nfx::MessageView{}};  // refused: use of deleted function
}
void field_of_another_message(nfx::SessionHandle& session) {
  auto report = session.create<fix::ExecutionReport>();
  report.on_behalf_of_nobody("x");  // refused: has no member named 'on_behalf_of_nobody'
}
void number_for_a_name(nfx::SessionHandle& session) {
  auto report = session.create<fix::ExecutionReport>();
  report.side('1');  // refused: cannot convert
}
void double_for_a_decimal(nfx::SessionHandle& session) {
  auto report = session.create<fix::ExecutionReport>();
  report.price(12.5);  // refused: cannot convert
}
void text_for_a_flag(nfx::SessionHandle& session) {
  auto report = session.create<fix::ExecutionReport>();
  report.copy_msg_indicator("N");  // refused: cannot convert
}
void number_for_a_flag(nfx::SessionHandle& session) {
  auto report = session.create<fix::ExecutionReport>();
  report.copy_msg_indicator(2);  // refused: cannot convert
}
void double_for_an_integer(nfx::SessionHandle& session) {
  auto report = session.create<fix::ExecutionReport>();
  report.tot_num_reports(1.9);  // refused: cannot convert
}
void character_for_an_integer(nfx::SessionHandle& session) {
  auto report = session.create<fix::ExecutionReport>();
  report.tot_num_reports('1');  // refused: cannot convert
}
void bytes_for_a_text(nfx::SessionHandle& session, const unsigned char* bytes) {
  auto report = session.create("8");
  report.append(nfx::Tag::Text, bytes);     // refused: no matching function for call to 'nfx::FieldWriter::append(
  report.append(nfx::Tag::Text, u8"text");  // refused: no matching function for call to 'nfx::FieldWriter::append(
  report.append(nfx::Tag::AvgPx, 1.5);      // refused: no matching function for call to 'nfx::FieldWriter::append(
}
void text_of_no_message(nfx::SessionHandle& session) {
  auto report =
      session.create<std::string>();  // refused: no matching function for call to 'nfx::SessionHandle::create<
}
