"""fuzz_target: one decoder under libFuzzer, and its corpus as an ordinary test."""

load("@rules_cc//cc:defs.bzl", "cc_binary", "cc_library")
load("//tests:defs.bzl", "boost_test")

def fuzz_target(name, srcs, deps, corpus):
    """NAME_fuzzer, for --config=fuzz alone, and NAME_replay_test, for every compiler.

    Args:
      name: what is decoded; the inputs to begin with are the files of corpus/NAME.
      srcs: what defines LLVMFuzzerTestOneInput().
      deps: what they use.
      corpus: the names of those files.
    """
    inputs = ["corpus/%s/%s" % (name, file) for file in corpus]
    cc_library(
        name = name,
        testonly = True,
        srcs = srcs,
        deps = deps,
        alwayslink = True,
    )

    # Manual: its main() is that of libFuzzer, which only clang has.
    cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        tags = ["manual"],
        deps = [":" + name],
    )
    boost_test(
        name = name + "_replay_test",
        srcs = ["replay_test.cc"],
        data = inputs,
        local_defines = ["RINGPOST_CORPUS='\"%s/corpus/%s\"'" % (native.package_name(), name)],
        deps = [":" + name],
    )
