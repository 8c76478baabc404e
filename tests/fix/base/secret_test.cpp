// Secrets: where their bytes are, that they are cleared, and the traces they leave.
#include "nexusfix/base/secret.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace nfx {
namespace {

// The flags of the mapping at this address, in the kernel's notation: "rd wr mr mw me lo dd".
std::string flags_at(const void* address) {
  std::ifstream maps{"/proc/self/smaps"};
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = '\0';
    std::istringstream words{line};
    if (words >> std::hex >> begin >> dash >> end && dash == '-') inside = begin <= wanted && wanted < end;
    if (inside && line.starts_with("VmFlags:")) return line;
  }
  return {};
}

// qemu-aarch64 in Debian 12 returns 0 for MADV_DONTDUMP and does nothing.
bool madvise_is_emulated() {
  void* const page = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return false;
  const bool ignored = ::madvise(page, 4096, MADV_DONTDUMP) == 0 && flags_at(page).find(" dd") == std::string::npos;
  ::munmap(page, 4096);
  return ignored;
}

TEST(Secret, bytes_are_in_pages_that_no_core_has) {
  if (madvise_is_emulated()) GTEST_SKIP() << "an emulator ignores MADV_DONTDUMP";
  const Secret secret{"correct horse"};
  const std::string flags = flags_at(secret.reveal().data());
  ASSERT_FALSE(flags.empty());
  EXPECT_NE(flags.find(" dd"), std::string::npos) << flags;
  const std::string ordinary = "correct horse, but longer than a short string";
  EXPECT_EQ(flags_at(ordinary.data()).find(" dd"), std::string::npos) << "or the flag says nothing";
}

TEST(Secret, is_revealed_and_matched_as_it_was_given) {
  for (const std::size_t size : {1U, 15U, 16U, 63U, 64U, 65U, 256U, 1000U, 1024U}) {
    const std::string text(size, 'p');
    Secret secret{text};
    EXPECT_EQ(secret.reveal(), text);
    for (const bool digest : {false, true}) {
      if (digest) secret.keep_digest();
      EXPECT_TRUE(secret.matches(text)) << size;
      EXPECT_FALSE(secret.matches(text + 'p')) << size;
      EXPECT_FALSE(secret.matches(text.substr(1))) << size;
      EXPECT_FALSE(secret.matches(text.substr(1) + 'q')) << size;
      EXPECT_FALSE(secret.matches('q' + text.substr(1))) << size;
      EXPECT_FALSE(secret.matches(""));
    }
  }
}

TEST(Secret, empty_ones_match_nothing) {
  Secret none;
  EXPECT_TRUE(none.empty());
  EXPECT_FALSE(none.matches(""));
  EXPECT_FALSE(none.matches("x"));
  none.keep_digest();
  EXPECT_TRUE(none.empty());
  EXPECT_TRUE(Secret{""}.empty());
  EXPECT_TRUE(Secret{std::string_view{}}.empty());
}

TEST(Secret, has_no_text_once_only_the_digest_is_kept) {
  Secret secret{"correct horse"};
  const Secret copy = secret;
  secret.keep_digest();
  EXPECT_FALSE(secret.empty());
  EXPECT_EQ(secret.reveal(), "");
  EXPECT_EQ(copy.reveal(), "correct horse");
  secret.keep_digest();  // it already has a digest, so nothing changes
  EXPECT_TRUE(secret.matches("correct horse"));
}

TEST(Secret, bytes_are_cleared_with_the_last_copy) {
  const char* where = nullptr;
  {
    const Secret secret{"correct horse battery staple"};
    where = secret.reveal().data();
    {
      const Secret copy = secret;
      EXPECT_EQ(copy.reveal().data(), where) << "copies share the bytes";
    }
    EXPECT_EQ(std::string_view(where, 28), "correct horse battery staple");
  }
  // The pages stay mapped. The first bytes link free blocks.
  EXPECT_EQ(std::string_view(where + sizeof(char*), 28 - sizeof(char*)), std::string(28 - sizeof(char*), '\0'));
}

TEST(Secret, freed_blocks_are_used_again) {
  const char* where = nullptr;
  {
    const Secret secret{"one"};
    where = secret.reveal().data();
  }
  const Secret next{"two"};
  EXPECT_EQ(next.reveal().data(), where);
  EXPECT_EQ(next.reveal(), "two");
}

TEST(Secret, many_threads_may_make_and_compare_them) {
  std::vector<std::thread> threads;
  const Secret shared{"shared"};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&shared, t] {
      for (int i = 0; i < 500; ++i) {
        const std::string text(static_cast<std::size_t>(1 + (i * 7 + t) % 300), static_cast<char>('a' + t));
        Secret own{text};
        if (i % 2 == 0) own.keep_digest();
        ASSERT_TRUE(own.matches(text));
        ASSERT_TRUE(shared.matches("shared"));
      }
    });
  }
  for (std::thread& each : threads) each.join();
}

TEST(ClearText, leaves_nothing_of_the_text) {
  std::string text = "a password that is longer than a short string";
  text.resize(20);  // bytes behind its end are cleared too
  const char* const where = text.data();
  clear_text(text);
  EXPECT_TRUE(text.empty());
  EXPECT_EQ(text.data(), where);
  EXPECT_EQ(std::string_view(where, text.capacity()), std::string(text.capacity(), '\0'));
}

TEST(NameOfSecret, is_the_same_for_equal_texts_alone) {
  const std::string name = name_of_secret("one");
  EXPECT_EQ(name.size(), 64U);
  EXPECT_EQ(name, name_of_secret("one"));
  EXPECT_NE(name, name_of_secret("two"));
}

TEST(EnvironmentSecret, is_hidden_from_the_environment_and_still_known) {
  const std::string name = "NFX_SECRET_TEST";
  ::unsetenv(name.c_str());
  EXPECT_TRUE(environment_secret(name).empty());
  ::setenv(name.c_str(), "first", 1);
  EXPECT_EQ(environment_secret(name).reveal(), "first");
  EXPECT_STREQ(std::getenv(name.c_str()), "first") << "not hidden before that is wanted";
  hide_environment_secrets();
  EXPECT_STREQ(std::getenv(name.c_str()), "");
  EXPECT_EQ(environment_secret(name).reveal(), "first");
  ::setenv(name.c_str(), "second", 1);
  EXPECT_EQ(environment_secret(name).reveal(), "second");
  EXPECT_STREQ(std::getenv(name.c_str()), "");
  ::unsetenv(name.c_str());
  EXPECT_TRUE(environment_secret(name).empty());
}

}  // namespace
}  // namespace nfx
