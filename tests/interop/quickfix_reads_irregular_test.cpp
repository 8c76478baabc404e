// Irregular dictionaries of tests/fix/dictionary/irregular in QuickFIX: it loads the files that the table lists, and
// has the verdicts of the table. tests/fix/dictionary/repair_test.cpp tests NexusFIX against the same table.
#include <dirent.h>
#include <gtest/gtest.h>
#include <quickfix/DataDictionary.h>
#include <quickfix/Message.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "../fix/dictionary/irregular_verdicts.hpp"

namespace {

const std::string folder = NFX_SOURCE_DIR "/tests/fix/dictionary/irregular/";

std::vector<std::string> names() {
  std::vector<std::string> result;
  DIR* open = opendir(folder.c_str());
  if (open == nullptr) return result;
  while (const dirent* entry = readdir(open)) {
    const std::string name = entry->d_name;
    if (name.size() > 4 && name.compare(name.size() - 4, 4, ".xml") == 0) {
      result.push_back(name.substr(0, name.size() - 4));
    }
  }
  closedir(open);
  std::sort(result.begin(), result.end());
  return result;
}

std::string framed(std::string body) {
  std::replace(body.begin(), body.end(), '|', '\001');
  std::string bytes = "8=FIX.4.4\0019=" + std::to_string(body.size()) + '\001' + body;
  unsigned sum = 0;
  for (const char c : bytes) sum += static_cast<unsigned char>(c);
  const std::string digits = std::to_string(sum % 256);
  return bytes + "10=" + std::string(3 - digits.size(), '0') + digits + '\001';
}

// Empty if the message is valid.
std::string violation(const FIX::DataDictionary& dictionary, const std::string& body) {
  try {
    const FIX::Message message(framed(irregular::header + body), dictionary);
    dictionary.validate(message);
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

TEST(QuickFixReadsIrregular, every_file_with_the_verdicts_of_the_table) {
  std::size_t loaded = 0;
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    if (irregular::is_refused_by_quickfix(name)) {
      // A component within itself ends the process.
      if (name != "component_within_itself") {
        EXPECT_THROW(FIX::DataDictionary(folder + name + ".xml"), FIX::ConfigError);
      }
      continue;
    }
    std::unique_ptr<FIX::DataDictionary> dictionary;
    ASSERT_NO_THROW(dictionary.reset(new FIX::DataDictionary(folder + name + ".xml")));
    ++loaded;
    for (const irregular::Message& message : irregular::messages) {
      const irregular::Exception* exception = irregular::exception_of(name, message.name);
      const std::string found = violation(*dictionary, message.body);
      EXPECT_EQ(found.empty(), exception == nullptr ? message.valid : exception->quickfix)
          << message.name << ": " << found;
    }
  }
  EXPECT_GE(loaded, 40u);
}

}  // namespace
