// Each input of a fuzzer's corpus once, without the fuzzer.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace ringpost {
namespace {

BOOST_AUTO_TEST_CASE(EveryInputOfTheCorpusIsHandled) {
  int inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(RINGPOST_CORPUS)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
    BOOST_TEST_CONTEXT(entry.path()) {
      BOOST_TEST(LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()),
                                        bytes.size()) == 0);
    }
    ++inputs;
  }
  BOOST_TEST(inputs > 0);
}

}  // namespace
}  // namespace ringpost
