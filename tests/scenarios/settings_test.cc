// Settings: which of several places counts, and what is wrong is said with its place.
#include <boost/test/unit_test.hpp>

#include "configs/schema/config_error.h"
#include "configs/schema/loader.h"
#include "tests/configs/scratch.h"

namespace ringpost::config {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    Load({WriteScratch("settings.yaml", text), {}});
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// O-48: settings come from variables that nobody documents, and a wrong one goes unnoticed. Here a
// file, the environment and the command line replace each other in this order.
BOOST_AUTO_TEST_CASE(TheCommandLineReplacesTheEnvironmentAndThatTheFile) {
  Sources sources{WriteScratch("depth.yaml", "transport: {sq_depth_wqebbs: 1024}"), {}};
  BOOST_TEST(Load(sources).config.transport.sq_depth_wqebbs == 1024u);
  sources.assignments = ParseEnvironment("transport.sq_depth_wqebbs=256");
  BOOST_TEST(Load(sources).config.transport.sq_depth_wqebbs == 256u);
  sources.assignments.push_back(ParseSet("transport.sq_depth_wqebbs=512", 1));
  const Loaded loaded = Load(sources);
  BOOST_TEST(loaded.config.transport.sq_depth_wqebbs == 512u);
  BOOST_TEST(ToYaml(loaded.effective).find("sq_depth_wqebbs: 512") != std::string::npos);
}

// O-48: an unknown key and a wrong type are errors, with their line.
BOOST_AUTO_TEST_CASE(AnUnknownKeyAndATextForANumberAreErrorsWithTheirLine) {
  const std::string unknown = ErrorOf("seed: 1\ntransport:\n  sq_dpeth_wqebbs: 64\n");
  BOOST_TEST(unknown.find("settings.yaml:3:3: transport.sq_dpeth_wqebbs: ") != std::string::npos,
             unknown);
  BOOST_TEST(unknown.find("did you mean sq_depth_wqebbs?") != std::string::npos, unknown);
  const std::string text = ErrorOf("transport:\n  sq_depth_wqebbs: \"1k\"\n");
  BOOST_TEST(text.find("settings.yaml:2:20: transport.sq_depth_wqebbs: '1k' is not a whole") !=
                 std::string::npos,
             text);
}

// O-06, for a run: a depth that no queue has is refused before anything is created.
BOOST_AUTO_TEST_CASE(ADepthThatNoQueueHasIsAnErrorWithTheLimit) {
  for (const char* depth : {"196609", "65536", "65533"}) {
    const std::string error = ErrorOf(std::string("transport: {sq_depth_wqebbs: ") + depth + "}");
    BOOST_TEST(error.find(depth) != std::string::npos, error);
    BOOST_TEST(error.find("32768") != std::string::npos, error);
  }
}

}  // namespace ringpost::config
