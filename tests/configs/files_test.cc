// The files of configs/ themselves.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "configs/schema/config_hash.h"
#include "configs/schema/loader.h"
#include "configs/schema/platform_loader.h"
#include "configs/schema/readme.h"
#include "configs/schema/root.h"
#include "configs/schema/yaml_file.h"

namespace ringpost::config {
namespace {

std::string Root() { return FindRoot() + "/configs/"; }

BOOST_AUTO_TEST_CASE(TheReadmeIsWhatTheTableSays) {
  BOOST_TEST((ReadText(Root() + "README.md") == ReadmeText()),
             "configs/README.md is old: bazel run //configs/schema:write_readme");
}

BOOST_AUTO_TEST_CASE(EveryPlatformLoads) {
  BOOST_TEST_REQUIRE(PlatformNames().size() >= 2u);
  for (const std::string& name : PlatformNames()) {
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(LoadPlatform(name).name == name);
      BOOST_TEST(LoadPlatform(name).sm_clock.value > 0.0);
    }
  }
}

BOOST_AUTO_TEST_CASE(EveryExperimentAndTheQuickstartLoad) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(Root() + "experiments")) {
    BOOST_TEST_CONTEXT(entry.path()) { BOOST_CHECK_NO_THROW(Load({entry.path().string(), {}})); }
    ++count;
  }
  BOOST_TEST(count > 0);
  BOOST_CHECK_NO_THROW(Load({Root() + "quickstart.yaml", {}}));
}

BOOST_AUTO_TEST_CASE(TheHashIsThatOfFnv1a) {
  BOOST_TEST(HashOf("") == 0xcbf29ce484222325u);
  BOOST_TEST(HashOf("a") == 0xaf63dc4c8601ec8cu);
  BOOST_TEST(HashOf("foobar") == 0x85944171f73967e8u);
}

BOOST_AUTO_TEST_CASE(TheHashChangesWithAnyValueAndWithNothingElse) {
  const std::string path = Root() + "quickstart.yaml";
  const sim::Platform platform = LoadPlatform("p_ib");
  const std::string hash = ConfigHash(Load({path, {}}).effective, platform);
  BOOST_TEST(hash.size() == 16u);
  // The same value, set elsewhere.
  BOOST_TEST(ConfigHash(Load({path, {ParseSet("seed=1", 1)}}).effective, platform) == hash);
  BOOST_TEST(ConfigHash(Load({path, {ParseSet("seed=2", 1)}}).effective, platform) != hash);
  sim::Platform other = platform;
  other.transmit.ns += 0.01;
  BOOST_TEST(ConfigHash(Load({path, {}}).effective, other) != hash);
  other = platform;
  other.transmit.source = "elsewhere";
  BOOST_TEST(ConfigHash(Load({path, {}}).effective, other) == hash);
}

}  // namespace
}  // namespace ringpost::config
