// Requests that every reader understands alike, and requests that are refused because readers could differ.
#include "control/http_request.hpp"

#include <gtest/gtest.h>

#include <string>

namespace nfx::control {
namespace {

// "complete GET /x", "refused 400" or "incomplete", for bytes that arrive `step` at a time.
std::string read(std::string_view bytes, std::size_t step = 100'000, HttpSizes sizes = {}) {
  HttpRequestReader reader{sizes};
  HttpProgress progress = HttpProgress::incomplete;
  for (std::size_t at = 0; at < bytes.size(); at += step) progress = reader.take(bytes.substr(at, step));
  switch (progress) {
    case HttpProgress::incomplete: return "incomplete";
    case HttpProgress::refused: return "refused " + std::to_string(reader.refusal().status);
    case HttpProgress::complete: break;
  }
  const HttpRequest& request = reader.request();
  std::string text = "complete " + std::string{request.method} + ' ' + std::string{request.target} + ' ';
  text += std::string{request.body} + (request.keep_alive ? " on" : " end");
  for (std::size_t i = 0; i < http_field_count; ++i) {
    if (request.present[i]) text += '|' + std::string{request.values[i]};
  }
  return text;
}

TEST(HttpRequest, is_read_with_the_fields_that_mean_something) {
  EXPECT_EQ(read("GET /x HTTP/1.1\r\nHost: a:1\r\nX: y\r\n\r\n"), "complete GET /x  on|a:1");
  EXPECT_EQ(read("POST /x?y=%20 HTTP/1.1\r\nhOST:a\r\nCONTENT-LENGTH:\t2 \r\nIf-Match: \"3.5.9\"\r\n\r\n{}"),
            "complete POST /x?y=%20 {} on|a|\"3.5.9\"|2");
  EXPECT_EQ(read("POST /x HTTP/1.1\r\nOrigin: \r\nContent-Length: 0\r\n\r\n"), "complete POST /x  on||0");
  EXPECT_EQ(read("GET /x HTTP/1.1\r\nX: \xc3\xa4\r\n\r\n"), "complete GET /x  on");
}

TEST(HttpRequest, ends_its_connection_where_the_client_cannot_send_another) {
  EXPECT_EQ(read("GET /x HTTP/1.0\r\n\r\n"), "complete GET /x  end");
  EXPECT_EQ(read("HEAD /x HTTP/1.1\r\n\r\n"), "complete HEAD /x  end");
  EXPECT_EQ(read("GET /x HTTP/1.1\r\nConnection: close\r\n\r\n"), "complete GET /x  end|close");
  EXPECT_EQ(read("GET /x HTTP/1.1\r\nConnection: TE ,\tCLOSE\r\n\r\n"), "complete GET /x  end|TE ,\tCLOSE");
  EXPECT_EQ(read("GET /x HTTP/1.1\r\nConnection: closed\r\n\r\n"), "complete GET /x  on|closed");
}

TEST(HttpRequest, is_the_same_however_its_bytes_arrive) {
  for (const std::string_view bytes :
       {"POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\n\r\n{\"next\": 12}",
        "GET /x HTTP/1.1\r\n\r\nGET /y HTTP/1.1\r\n", "GET /x HTTP/1.1\r\nHost: a\nX: y\r\n\r\n",
        "GET /x HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}", "POST /x HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}{",
        "POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\n{}"}) {
    for (std::size_t step = 1; step < bytes.size(); ++step) EXPECT_EQ(read(bytes, step), read(bytes)) << bytes;
  }
}

TEST(HttpRequest, is_incomplete_until_its_last_byte_and_refused_with_one_more) {
  const std::string bytes = "POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}";
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_EQ(read(bytes.substr(0, size)), "incomplete") << size;
  EXPECT_TRUE(read(bytes).starts_with("complete"));
  EXPECT_EQ(read(bytes + '\n'), "refused 400");
  HttpRequestReader reader;
  EXPECT_EQ(reader.take(bytes), HttpProgress::complete);
  EXPECT_EQ(reader.take("x"), HttpProgress::refused) << "what comes after it later";
  reader.begin();
  EXPECT_EQ(reader.take(bytes), HttpProgress::complete);
}

TEST(HttpRequest, is_refused_at_the_byte_that_makes_it_none) {
  for (const std::string_view bytes :
       {"\n", "\rX", "\x16", "GET /x HTTP/1.1\n", "GET /x HTTP/1.1\r\nX: y\rz", "\r\n\r\n"})
    EXPECT_EQ(read(bytes), "refused 400") << bytes;
}

TEST(HttpRequest, has_a_request_line_of_three_parts) {
  for (const std::string_view line :
       {"GET", "GET /x", "GET  /x HTTP/1.1", "GET /x  HTTP/1.1", "GET /x HTTP/1.1 ", " GET /x HTTP/1.1",
        "GET /x HTTP/1.2", "GET /x HTTP/2.0", "GET /x http/1.1", "GET x HTTP/1.1", "GET http://a/x HTTP/1.1",
        "OPTIONS * HTTP/1.1", "GET /x y HTTP/1.1", "G(T /x HTTP/1.1", "GET\t/x\tHTTP/1.1", "GET /\xc3\xa4 HTTP/1.1",
        " /x HTTP/1.1"})
    EXPECT_EQ(read(std::string{line} + "\r\n\r\n"), "refused 400") << line;
}

TEST(HttpRequest, has_each_field_that_means_something_once) {
  for (const std::string_view name :
       {"Host", "Origin", "Authorization", "If-Match", "Content-Type", "Content-Length", "Connection"}) {
    const std::string field = std::string{name} + ": 0\r\n";
    EXPECT_TRUE(read("GET /x HTTP/1.1\r\n" + field + "\r\n").starts_with("complete")) << name;
    EXPECT_EQ(read("GET /x HTTP/1.1\r\n" + field + field + "\r\n"), "refused 400") << name;
  }
  EXPECT_TRUE(read("GET /x HTTP/1.1\r\nAccept: a\r\nAccept: b\r\n\r\n").starts_with("complete"));
}

TEST(HttpRequest, is_bounded) {
  const HttpSizes sizes{.head_bytes = 64, .body_bytes = 8, .fields = 3};
  const std::string line = "POST /x HTTP/1.1\r\n";
  const std::string full = line + "X: " + std::string(64 - line.size() - 7, 'x') + "\r\n\r\n";
  ASSERT_EQ(full.size(), 64U);
  EXPECT_TRUE(read(full, 1, sizes).starts_with("complete"));
  EXPECT_EQ(read(line + "X: " + full, 1, sizes), "refused 431");
  EXPECT_EQ(read(std::string(65, 'x'), 1, sizes), "refused 431");
  EXPECT_EQ(read(line + "A: b\r\nA: b\r\nA: b\r\nA: b\r\n\r\n", 1, sizes), "refused 431");
  EXPECT_TRUE(read(line + "Content-Length: 8\r\n\r\n12345678", 1, sizes).starts_with("complete"));
  EXPECT_EQ(read(line + "Content-Length: 9\r\n\r\n", 1, sizes), "refused 413");
  EXPECT_EQ(read(line + "Content-Length: 18446744073709551615\r\n\r\n", 1, sizes), "refused 413");
  EXPECT_EQ(read(line + "Content-Length: 8\r\n\r\n" + std::string(1'000'000, 'x'), 100'000, sizes), "refused 400");
}

}  // namespace
}  // namespace nfx::control
