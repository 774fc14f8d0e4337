"""pkg_config_library: a library installed on this machine, found with pkg-config."""

load("//third_party:system.bzl", "BUILTIN_INCLUDES", "HEADER", "library", "wants_archives")

_DEFS = "INSTALLED = %r\n"

def _parse(ctx, words):
    """The attributes of a cc_library from pkg-config's answer."""
    found = struct(defines = [], hdrs = [], includes = [], linkopts = [])
    portable = wants_archives(ctx)
    if portable and ctx.attr.header_only_define:
        found.defines.append(ctx.attr.header_only_define)
        words = [word for word in words if not word.startswith("-l")]
    for word in words:
        if word.startswith("-I"):
            if word[2:] not in BUILTIN_INCLUDES:
                link = "include%d" % len(found.includes)
                ctx.symlink(word[2:], link)
                found.includes.append(link)
                found.hdrs.append(link + "/**")
        elif word.startswith("-D"):
            found.defines.append(word[2:])
        elif word.startswith("-L"):
            found.linkopts.extend([word, "-Wl,-rpath," + word[2:]])
        elif word.startswith("-l") and ctx.attr.archive and portable:
            found.linkopts.append("-l:lib%s.a" % word[2:])
        elif word:
            found.linkopts.append(word)
    return found

def _without(ctx):
    """What stands for an optional library that is not installed: nothing."""
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    ctx.file("BUILD", HEADER)
    ctx.file("defs.bzl", _DEFS % False)

def _pkg_config_library_impl(ctx):
    # A binary for other machines cannot rely on what may be missing.
    if ctx.attr.optional and wants_archives(ctx):
        return _without(ctx)
    tool = ctx.which("pkg-config")
    if not tool:
        fail("pkg-config is not installed: run third_party/setup.sh")
    result = ctx.execute([tool, "--cflags", "--libs", ctx.attr.package])
    if result.return_code != 0 and ctx.attr.optional:
        return _without(ctx)
    if result.return_code != 0:
        fail("%s is not installed: run third_party/setup.sh\n%s" % (ctx.name, result.stderr))
    found = _parse(ctx, result.stdout.strip().split(" "))
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    ctx.file("defs.bzl", _DEFS % True)
    ctx.file("BUILD", HEADER + library(
        name = "headers",
        hdrs = found.hdrs,
        includes = found.includes,
        defines = found.defines,
    ) + library(name = ctx.name, linkopts = found.linkopts, deps = [":headers"]))
    return None

pkg_config_library = repository_rule(
    implementation = _pkg_config_library_impl,
    attrs = {
        "archive": attr.bool(doc = "Debian has a static archive of it, for --config=portable."),
        "header_only_define": attr.string(
            doc = "What makes its headers suffice, for --config=portable where it has no archive.",
        ),
        "optional": attr.bool(doc = "Where it is not installed, INSTALLED of defs.bzl says so."),
        "package": attr.string(mandatory = True),
    },
    environ = ["PATH", "PKG_CONFIG_PATH", "RINGPOST_STATIC"],
    local = True,
    doc = "@NAME//:NAME, and @NAME//:headers for code that only needs the declarations; " +
          "INSTALLED in @NAME//:defs.bzl.",
)
