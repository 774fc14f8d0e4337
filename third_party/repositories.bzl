"""All external repositories. None needs the network."""

load("//third_party:boost.bzl", "boost")
load("//third_party:cuda_toolkit.bzl", "cuda_toolkit")
load("//third_party:offline.bzl", "coverage_stand_in", "native_rules")
load("//third_party:pkg_config.bzl", "pkg_config_library")

def offline_rules():
    """Defines what Bazel 4's built-in WORKSPACE suffix would otherwise download.

    The first definition of a repository wins, so these must come first.
    """
    native_rules(
        name = "rules_cc",
        package = "cc",
        providers = {"cc/common/cc_info.bzl": "CcInfo"},
        rules = [
            "cc_binary",
            "cc_import",
            "cc_library",
            "cc_proto_library",
            "cc_test",
            "cc_toolchain",
            "cc_toolchain_suite",
            "objc_library",
        ],
    )

    # Bazel registers its Java toolchains, and loads these for it, in a build without Java too.
    native_rules(
        name = "rules_java",
        package = "java",
        rules = [
            "java_binary",
            "java_import",
            "java_library",
            "java_proto_library",
            "java_runtime",
            "java_toolchain",
        ],
    )
    coverage_stand_in(name = "remote_coverage_tools")

def system_repositories():
    """Libraries that third_party/setup.sh installs; docs/dependencies.md says what each is for."""
    boost(name = "boost")
    cuda_toolkit(name = "cuda_toolkit")
    pkg_config_library(name = "benchmark", package = "benchmark")
    pkg_config_library(name = "cli11", package = "CLI11")
    pkg_config_library(name = "fmt", package = "fmt", header_only_define = "FMT_HEADER_ONLY")
    pkg_config_library(name = "libibverbs", package = "libibverbs")
    pkg_config_library(name = "libmlx5", package = "libmlx5")
    pkg_config_library(name = "libpcap", package = "libpcap")
    pkg_config_library(name = "mpi", package = "mpi-c", optional = True)
    pkg_config_library(name = "nlohmann_json", package = "nlohmann_json")
    pkg_config_library(name = "nlopt", package = "nlopt")
    pkg_config_library(name = "yaml_cpp", package = "yaml-cpp", archive = True)
