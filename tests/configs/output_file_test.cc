#include "tools/ringpost/output_file.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "configs/schema/config_error.h"
#include "configs/schema/yaml_file.h"
#include "tests/configs/scratch.h"

namespace ringpost::tools {
namespace {

namespace fs = std::filesystem;

BOOST_AUTO_TEST_CASE(AWrittenFileHasItsWholeText) {
  const std::string path = WriteScratch("out.json", "old");
  OutputFile("--json", path).Write("new");
  BOOST_TEST(config::ReadText(path) == "new");
}

BOOST_AUTO_TEST_CASE(AFileThatIsNotCommittedStaysAsItWas) {
  const std::string path = WriteScratch("out.json", "old");
  std::string pending;
  {
    const OutputFile file("--json", path);
    pending = file.pending_path();
    WriteScratch(fs::path(pending).filename().string(), "half");
  }
  BOOST_TEST(config::ReadText(path) == "old");
  BOOST_TEST(!fs::exists(pending));
}

BOOST_AUTO_TEST_CASE(AMissingFolderIsRefusedBeforeAnythingRuns) {
  const std::string folder = ScratchPath("nowhere");
  BOOST_CHECK_EXCEPTION(OutputFile("--json", folder + "/out.json"), config::ConfigError,
                        [&folder](const config::ConfigError& error) {
                          return error.what() == "command line:1:1: --json: there is no folder '" +
                                                     folder +
                                                     "'; create it, or name a file elsewhere";
                        });
}

BOOST_AUTO_TEST_CASE(AFolderIsNoFile) {
  const std::string folder = fs::path(ScratchPath("x")).parent_path().string();
  BOOST_CHECK_THROW(OutputFile("--json", folder), config::ConfigError);
}

BOOST_AUTO_TEST_CASE(TheFileBehindALinkIsReplaced) {
  const std::string path = WriteScratch("out.json", "old");
  const std::string link = ScratchPath("link.json");
  fs::create_symlink(path, link);
  OutputFile("--json", link).Write("new");
  BOOST_TEST(fs::is_symlink(link));
  BOOST_TEST(config::ReadText(path) == "new");
}

BOOST_AUTO_TEST_CASE(ADeviceIsWrittenToAndNotReplaced) {
  OutputFile("--json", "/dev/null").Write("text");
  BOOST_TEST(!fs::is_regular_file("/dev/null"));
}

}  // namespace
}  // namespace ringpost::tools
