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

def python_test(name, srcs, deps = [], size = "small", **kwargs):
    """A Python test: unittest cases in NAME.py, which ends with `case_report.main()`.

    Args:
      name: the test's name.
      srcs: its files.
      deps: py_library targets. tests/case_report.py is there without being named.
      size: Bazel's size: small means one minute at most.
      **kwargs: passed to py_test: data, tags...
    """
    native.py_test(
        name = name,
        srcs = srcs,
        size = size,
        python_version = "PY3",
        deps = deps + ["//tests:case_report"],
        **kwargs
    )
