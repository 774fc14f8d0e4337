"""What the rules for libraries of this machine share."""

# The compiler searches these by itself.
BUILTIN_INCLUDES = ["/usr/include", "/usr/local/include"]

HEADER = """load("@rules_cc//cc:defs.bzl", "cc_library")

package(default_visibility = ["//visibility:public"])
"""

_LIBRARY = """
cc_library(
    name = {name},
    hdrs = glob({hdrs}, allow_empty = True),
    defines = {defines},
    includes = {includes},
    linkopts = {linkopts},
    deps = {deps},
)
"""

def library(name, hdrs = [], includes = [], defines = [], linkopts = [], deps = []):
    """The text of a cc_library; hdrs are glob patterns."""
    return _LIBRARY.format(
        name = repr(name),
        hdrs = repr(hdrs),
        defines = repr(defines),
        includes = repr(includes),
        linkopts = repr(linkopts),
        deps = repr(deps),
    )

def wants_archives(ctx):
    """Whether --config=portable asks for static archives rather than shared libraries."""
    return ctx.os.environ.get("RINGPOST_STATIC", "0") == "1"

def absolute_label(label):
    """The label as text that names the main repository also when read in another one.

    Args:
      label: a Label in the main repository, which Bazel 4 prints as "//x:y".
    Returns:
      "@//x:y".
    """
    text = str(label)
    return "@" + text if text.startswith("//") else text
