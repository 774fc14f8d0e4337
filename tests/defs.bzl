"""Macros for this project's tests."""

load("@rules_cc//cc:defs.bzl", "cc_test")

def boost_test(name, srcs, deps = [], size = "small", **kwargs):
    """A Boost.Test program.

    Args:
      name: the test's name.
      srcs: files that include <boost/test/unit_test.hpp> and hold BOOST_AUTO_TEST_CASEs. They
        define no module: //tests:main is the main().
      deps: what is tested. Boost.Test and tests/seed.h are there without being named.
      size: Bazel's size: small means one minute at most.
      **kwargs: passed to cc_test: data, tags, target_compatible_with...
    """
    cc_test(
        name = name,
        srcs = srcs,
        size = size,
        deps = deps + [
            "//tests:main",
            "//tests:seed",
            "@boost//:test",
        ],
        **kwargs
    )
