// Answers of an HTTP server in any pieces: status and body, and what is not an answer.
#include "market/http_answer.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nfx::market {
namespace {

// The answer after its bytes came in pieces of `step`.
std::string result(std::string_view bytes, std::size_t step, bool ended = false, HttpLimits limits = {}) {
  HttpAnswer answer{limits};
  answer.begin();
  for (std::size_t at = 0; at < bytes.size(); at += step) answer.received(bytes.substr(at, step));
  if (ended) answer.ended();
  switch (answer.state()) {
    case HttpState::reading: return "reading";
    case HttpState::failed: return "failed";
    case HttpState::complete: break;
  }
  EXPECT_GE(answer.body().capacity, answer.body().size + json_padding);
  return std::to_string(answer.status()) + " " + std::string{answer.body().text()};
}

void expect(std::string_view bytes, std::string_view wanted, bool ended = false, HttpLimits limits = {}) {
  for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{7}, bytes.size()}) {
    EXPECT_EQ(result(bytes, step, ended, limits), wanted) << bytes << " in pieces of " << step;
  }
}

TEST(HttpAnswer, has_its_body_by_length_by_chunks_or_to_the_end_of_the_connection) {
  expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200 hello");
  expect("HTTP/1.1 200 OK\r\ncontent-length:5 \r\n\r\nhello and more", "200 hello");
  expect("HTTP/1.1 429 Slow down\r\nContent-Length: 0\r\n\r\n", "429 ");
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nA: b\r\n\r\n",
         "200 hello");
  expect("HTTP/1.1 200 OK\r\n\r\nhello", "200 hello", true);
}

TEST(HttpAnswer, is_not_complete_before_its_end) {
  expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "reading");
  expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "failed", true);
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n", "failed", true);
  expect("HTTP/1.1 200 OK\r\n", "failed", true);
  expect("HTTP/1.1 200 OK\r\n\r\nhello", "reading");
}

TEST(HttpAnswer, refuses_what_is_none_or_has_two_meanings) {
  expect("HTTP/2 200\r\n\r\n", "failed");
  expect("SSH-2.0-OpenSSH\r\n\r\n", "failed");
  expect("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "failed");
  expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "failed");
  expect("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "failed");
  expect("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello", "failed");
  expect("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello", "failed");
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello", "failed");
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhello\r\n0\r\n\r\n", "failed");
}

TEST(HttpAnswer, is_bounded) {
  constexpr HttpLimits limits{.head = 64, .body = 8};
  expect("HTTP/1.1 200 OK\r\nA: " + std::string(100, 'x') + "\r\n\r\n", "failed", false, limits);
  expect("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", "failed", false, limits);
  expect("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "failed", false, limits);
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n5\r\n", "failed", false, limits);
  expect("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", "failed", false, limits);
  expect("HTTP/1.1 200 OK\r\n\r\n123456789", "failed", false, limits);
}

TEST(HttpAnswer, of_a_second_request_has_nothing_of_the_first) {
  HttpAnswer answer{{}};
  answer.begin();
  EXPECT_EQ(answer.received("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"), HttpState::complete);
  answer.begin();
  EXPECT_EQ(answer.state(), HttpState::reading);
  EXPECT_EQ(answer.received("HTTP/1.1 400 Bad\r\nContent-Length: 2\r\n\r\n{}"), HttpState::complete);
  EXPECT_EQ(answer.status(), 400);
  EXPECT_EQ(answer.body().text(), "{}");
}

}  // namespace
}  // namespace nfx::market
