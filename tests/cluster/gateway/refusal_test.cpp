// Why the stream does not store a frame, for an operator.
#include "gateway/refusal.hpp"

#include <gtest/gtest.h>

namespace nfx::gateway {
namespace {

TEST(Refusal, full_stream_has_its_remedy) {
  EXPECT_EQ(
      refusal_text("maximum bytes exceeded"),
      "the stream is full and stores nothing (maximum bytes exceeded): run nfx cluster compact, or raise max_bytes");
  EXPECT_TRUE(is_full("insufficient storage resources available"));
}

TEST(Refusal, another_error_is_repeated_as_the_server_states_it) {
  EXPECT_FALSE(is_full("JetStream system temporarily unavailable"));
  EXPECT_EQ(refusal_text("JetStream system temporarily unavailable"),
            "the cluster stores nothing: JetStream system temporarily unavailable");
}

}  // namespace
}  // namespace nfx::gateway
