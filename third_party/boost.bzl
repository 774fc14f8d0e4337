"""boost: the parts of Boost that this project uses. Boost has no pkg-config file."""

load("//third_party:system.bzl", "BUILTIN_INCLUDES", "HEADER", "library", "wants_archives")

# Before this one Asio's coroutines do not compile as C++20. Debian's own default is 1.74.
_OLDEST = 108100

def _root(ctx):
    """The prefix that Boost is installed under, the user's choice first."""
    for root in [ctx.os.environ.get("BOOST_ROOT", ""), "/usr/local", "/usr"]:
        version = root + "/include/boost/version.hpp"
        if root and ctx.path(version).exists:
            number = int(ctx.read(version).split("#define BOOST_VERSION ")[1].split("\n")[0])
            if number < _OLDEST:
                fail("%s has Boost %d; 108100 or newer is needed: run third_party/setup.sh" %
                     (root, number))
            return root
    fail("Boost is not installed: run third_party/setup.sh")

def _boost_impl(ctx):
    root = _root(ctx)
    hdrs, includes, search = [], [], ["-pthread"]
    if root + "/include" not in BUILTIN_INCLUDES:
        ctx.symlink(root + "/include", "include")
        hdrs, includes = ["include/boost/**"], ["include"]
        search += ["-L%s/lib" % root, "-Wl,-rpath,%s/lib" % root]
    link = "-l:lib%s.a" if wants_archives(ctx) else "-l%s"
    dynamic = [] if wants_archives(ctx) else ["BOOST_TEST_DYN_LINK"]
    headers = [":headers"]
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    ctx.file("BUILD", HEADER + "".join([
        library("headers", hdrs, includes),
        library("asio", linkopts = ["-pthread"], deps = headers),
        library("context", linkopts = [link % "boost_context"] + search, deps = headers),
        library(
            "test",
            defines = dynamic,
            linkopts = [link % "boost_unit_test_framework"] + search,
            deps = headers,
        ),
    ]))

boost = repository_rule(
    implementation = _boost_impl,
    environ = ["BOOST_ROOT", "RINGPOST_STATIC"],
    local = True,
    doc = "@NAME//:asio, :context, :headers and :test.",
)
