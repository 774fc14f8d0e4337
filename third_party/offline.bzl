"""Stand-ins for the rule archives that Bazel 4 would download."""

def _forwarder(rule):
    return "def {rule}(**kwargs):\n    native.{rule}(**kwargs)\n".format(rule = rule)

def _native_rules_impl(ctx):
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    ctx.file(ctx.attr.package + "/BUILD", "")
    ctx.file(ctx.attr.package + "/defs.bzl", "\n".join([_forwarder(r) for r in ctx.attr.rules]))
    for path, symbol in ctx.attr.providers.items():
        folder, name = path.rsplit("/", 1)
        ctx.file(folder + "/BUILD", "")

        # A file that assigns a built-in name cannot read the built-in, hence a second file.
        ctx.file("%s/builtin_%s" % (folder, name), "builtin = %s\n" % symbol)
        ctx.file(path, "load(%r, \"builtin\")\n\n%s = builtin\n" % (":builtin_" + name, symbol))

native_rules = repository_rule(
    implementation = _native_rules_impl,
    attrs = {
        "package": attr.string(mandatory = True),
        "providers": attr.string_dict(),
        "rules": attr.string_list(mandatory = True),
    },
    doc = "@NAME//PACKAGE:defs.bzl, which forwards to the rules built into Bazel.",
)

_COVERAGE_BUILD = """package(default_visibility = ["//visibility:public"])

[sh_binary(name = name, srcs = ["unavailable.sh"]) for name in %r]
"""

def _coverage_stand_in_impl(ctx):
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    ctx.file("unavailable.sh", "#!/bin/sh\necho 'bazel coverage: not available' >&2\nexit 1\n")
    ctx.file("BUILD", _COVERAGE_BUILD % ["coverage_report_generator", "lcov_merger"])

coverage_stand_in = repository_rule(
    implementation = _coverage_stand_in_impl,
    doc = "The repository that every test target mentions, though only `bazel coverage` runs it.",
)
