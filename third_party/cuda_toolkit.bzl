"""Finds the CUDA Toolkit. What needs it is skipped where there is none."""

load("//third_party:system.bzl", "HEADER", "absolute_label")

_BUILD = HEADER + """load(":defs.bzl", "CUDA_REQUIRES")

# The runtime is linked statically: a program needs only the driver's libcuda, at run time.
cc_library(
    name = "cudart",
    srcs = glob(["lib64/libcudart_static.a"], allow_empty = True),
    linkopts = ["-ldl", "-lrt", "-pthread"],
    linkstatic = True,
    target_compatible_with = CUDA_REQUIRES,
    deps = [":headers"],
)

cc_library(
    name = "headers",
    hdrs = glob(["include/*.h", "include/*.hpp", "include/crt/**"], allow_empty = True),
    includes = ["include"],
    target_compatible_with = CUDA_REQUIRES,
)

# The driver's own interface. The toolkit's stub satisfies the linker where no driver is.
cc_library(
    name = "driver",
    linkopts = ["-L%s/stubs", "-lcuda"],
    target_compatible_with = CUDA_REQUIRES,
    deps = [":headers"],
)
"""

_DEFS = """CUDA_ROOT = %r
CUDA_VERSION = %r
CUDA_REQUIRES = %r
"""

def _find(ctx):
    """(root, library folder) of the first complete toolkit, or None."""
    if ctx.os.environ.get("RINGPOST_CUDA", "1") == "0":
        return None
    candidates = [ctx.os.environ.get("CUDA_HOME"), ctx.os.environ.get("CUDA_PATH")]
    nvcc = ctx.which("nvcc")
    if nvcc:
        candidates.append(str(nvcc.realpath.dirname.dirname))
    for root in candidates + ["/usr/local/cuda"]:
        for lib in ["lib64", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu"]:
            needed = ["bin/nvcc", "include/cuda_runtime_api.h", lib + "/libcudart_static.a"]
            if root and all([ctx.path("%s/%s" % (root, file)).exists for file in needed]):
                return root, lib
    return None

def _cuda_toolkit_impl(ctx):
    root, lib, version = "", "", ""
    found = _find(ctx)
    if found:
        answer = ctx.execute([found[0] + "/bin/nvcc", "--version"])
        if answer.return_code == 0:
            root, lib = found
            version = answer.stdout.split("release ")[-1].split("\n")[0]
            ctx.symlink(root + "/include", "include")
            ctx.symlink("%s/%s" % (root, lib), "lib64")
    requires = [] if root else [absolute_label(ctx.attr._not_installed)]
    ctx.file("WORKSPACE", "workspace(name = %r)\n" % ctx.name)
    ctx.file("BUILD", _BUILD % ("%s/%s" % (root, lib)))
    ctx.file("defs.bzl", _DEFS % (root, version, requires))

cuda_toolkit = repository_rule(
    implementation = _cuda_toolkit_impl,
    attrs = {"_not_installed": attr.label(default = "//third_party:not_installed")},
    environ = ["CUDA_HOME", "CUDA_PATH", "PATH", "RINGPOST_CUDA"],
    local = True,
    doc = "@NAME//:cudart, :driver and :headers.",
)
