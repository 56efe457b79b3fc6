// The fuzzers' seeds and past findings, run as ordinary tests (see tests/fuzz).
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../fuzz/targets.h"

namespace octavo {
namespace {

class FuzzCorpus : public testing::TestWithParam<fuzz::Named> {};

TEST_P(FuzzCorpus, Holds) {
  int tried = 0;
  const std::string folder = OCTAVO_TEST_DATA "/../fuzz/corpus/" + std::string(GetParam().name);
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string content(std::istreambuf_iterator<char>(file), {});
    SCOPED_TRACE(entry.path());
    GetParam().target({reinterpret_cast<const uint8_t*>(content.data()), content.size()});
    ++tried;
  }
  EXPECT_GT(tried, 0) << "there are no seeds in " << folder;
}

INSTANTIATE_TEST_SUITE_P(All, FuzzCorpus, testing::ValuesIn(fuzz::kTargets),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace octavo
