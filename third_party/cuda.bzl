"""cuda_library: .cu files compiled with nvcc, linked like any cc_library."""

load("@cuda_toolkit//:defs.bzl", "CUDA_REQUIRES", "CUDA_ROOT", "CUDA_VERSION")
load("@rules_cc//cc:defs.bzl", "cc_library")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

# Machine code for Hopper (H100, H200), and PTX that the driver of a newer chip compiles.
_ARCHITECTURES = [
    "-gencode=arch=compute_90,code=sm_90",
    "-gencode=arch=compute_90,code=compute_90",
]

_MODE_FLAGS = {
    "dbg": ["-g", "-O0", "-lineinfo"],
    "fastbuild": ["-O1"],
    "opt": ["-O3", "-DNDEBUG", "-lineinfo"],
}

_WARNINGS = [
    "-Xcompiler=-fPIC,-Wall,-Wextra",
    "-Werror=cross-execution-space-call",
]

def if_cuda(yes, no = []):
    """`yes` where the CUDA Toolkit is installed, `no` elsewhere.

    A target that depends on a cuda_library is skipped as a whole without the toolkit. One that
    must exist everywhere names its GPU half, and the define that tells of it, through this.

    Args:
      yes: a list for a rule's attribute.
      no: a list for the same attribute.
    Returns:
      One of the two.
    """
    return yes if CUDA_ROOT else no

def _dependency_flags(compilation_contexts):
    flags = []
    for context in compilation_contexts:
        flags += ["-I" + path for path in context.includes.to_list()]
        flags += ["-I" + path for path in context.quote_includes.to_list()]
        flags += ["-isystem=" + path for path in context.system_includes.to_list()]
        flags += ["-D" + define for define in context.defines.to_list()]
    return flags

def _compile(ctx, src, headers, flags):
    """Declares the nvcc action of one .cu file and returns its object."""
    if src.extension != "cu":
        fail("%s is no .cu file" % src.path)
    stem = src.basename[:-len(".cu")]
    obj = ctx.actions.declare_file("_objs/%s/%s.o" % (ctx.label.name, stem))
    args = ctx.actions.args()
    args.add_all(["-c", src, "-o", obj, "-I.", "-std=c++20"])
    # --config=portable: what it makes must be small, and names the chips that it runs on.
    lean = ctx.var.get("ringpost_cuda") == "lean"
    args.add_all(_WARNINGS + (_ARCHITECTURES[:1] if lean else _ARCHITECTURES))

    # Without these two the same source gives other bytes each time.
    args.add_all(["--objdir-as-tempdir", "-Xcompiler=-frandom-seed=" + src.path])
    mode = _MODE_FLAGS[ctx.var["COMPILATION_MODE"]]
    args.add_all([flag for flag in mode if not lean or flag != "-lineinfo"])
    args.add_all(flags, uniquify = True)
    args.add_all(ctx.attr.copts)
    ctx.actions.run(
        executable = CUDA_ROOT + "/bin/nvcc",
        arguments = [args],
        inputs = depset([src], transitive = headers),
        outputs = [obj],
        mnemonic = "CudaCompile",
        progress_message = "Compiling %s with nvcc" % src.short_path,
        # The toolkit lies outside the workspace: its version makes an upgrade rebuild.
        env = {"CUDA_VERSION": CUDA_VERSION, "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    return obj

# Device code of several objects, linked: what `separate` objects need besides their own.
_DEVICE_LINK = """
nvcc=$1 linked=$2 report=$3
shift 3
"$nvcc" -dlink "$@" -Xnvlink=-v -o "$linked" >"$report" 2>&1 || {
  cat "$report" >&2
  exit 1
}
"""

def _device_link(ctx, objects):
    """Declares the nvcc action of the device link and returns its object and what nvlink says."""
    linked = ctx.actions.declare_file("_objs/%s/device_link.o" % ctx.label.name)
    report = ctx.actions.declare_file(ctx.label.name + ".nvlink")
    flags = ["--objdir-as-tempdir", "-Xcompiler=-fPIC,-frandom-seed=" + ctx.label.name]
    ctx.actions.run_shell(
        command = _DEVICE_LINK,
        arguments = [CUDA_ROOT + "/bin/nvcc", linked.path, report.path, _ARCHITECTURES[0]] + flags +
                    [obj.path for obj in objects],
        inputs = objects,
        outputs = [linked, report],
        mnemonic = "CudaDeviceLink",
        progress_message = "Linking device code of %s" % ctx.label.name,
        env = {"CUDA_VERSION": CUDA_VERSION, "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    return linked, report

def _cuda_objects_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    headers = [depset(ctx.files.hdrs)] + [context.headers for context in contexts]
    flags = _dependency_flags(contexts) + ["-D" + define for define in ctx.attr.local_defines]
    if not ctx.attr.separate:
        objects = [_compile(ctx, src, headers, flags) for src in ctx.files.srcs]
        return [DefaultInfo(files = depset(objects))]
    flags = flags + ["-rdc=true"]
    objects = [_compile(ctx, src, headers, flags) for src in ctx.files.srcs]
    linked, report = _device_link(ctx, objects)
    return [
        DefaultInfo(files = depset(objects + [linked])),
        OutputGroupInfo(registers = depset([report])),
    ]

_cuda_objects = rule(
    implementation = _cuda_objects_impl,
    attrs = {
        "copts": attr.string_list(),
        "deps": attr.label_list(providers = [CcInfo]),
        "hdrs": attr.label_list(allow_files = [".h", ".hpp", ".cuh"]),
        "local_defines": attr.string_list(),
        "separate": attr.bool(),
        "srcs": attr.label_list(allow_files = [".cu"], mandatory = True),
    },
)

_IMAGE_COMMAND = """
set -eu
nvcc=$1 src=$2 out=$3 symbol=$4 scope=$5
shift 5
image=$(mktemp)
trap 'rm -f "$image"' EXIT
"$nvcc" -fatbin "$src" -o "$image" "$@"
{
  echo "// What nvcc made of $src."
  echo "#include <cstddef>"
  echo "namespace $scope {"
  echo "extern const unsigned char $symbol[];"
  echo "extern const size_t ${symbol}Bytes;"
  echo "alignas(16) const unsigned char $symbol[] = {"
  od -An -v -tu1 "$image" | sed 's/  */,/g; s/^,//; s/$/,/'
  echo "};"
  echo "const size_t ${symbol}Bytes = sizeof($symbol);"
  echo "}"
} >"$out"
"""

def _cuda_image_impl(ctx):
    contexts = [dep[CcInfo].compilation_context for dep in ctx.attr.deps]
    flags = ["-I.", "-std=c++20", "-O3"] + _WARNINGS + _ARCHITECTURES
    out = ctx.actions.declare_file(ctx.label.name + ".cc")
    names = [ctx.attr.symbol, ctx.attr.scope]
    ctx.actions.run_shell(
        command = _IMAGE_COMMAND,
        arguments = [CUDA_ROOT + "/bin/nvcc", ctx.file.src.path, out.path] + names + flags +
                    _dependency_flags(contexts),
        inputs = depset([ctx.file.src], transitive = [c.headers for c in contexts]),
        outputs = [out],
        mnemonic = "CudaCompile",
        progress_message = "Compiling %s with nvcc" % ctx.file.src.short_path,
        env = {"CUDA_VERSION": CUDA_VERSION, "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    return [DefaultInfo(files = depset([out]))]

cuda_image = rule(
    implementation = _cuda_image_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "scope": attr.string(doc = "The namespace of the symbol.", mandatory = True),
        "src": attr.label(allow_single_file = [".cu"], mandatory = True),
        "symbol": attr.string(mandatory = True),
    },
    doc = "NAME.cc with the kernels of one .cu file as an image that the CUDA driver loads: the " +
          "array SYMBOL and the size SYMBOLBytes. For programs that have no CUDA linked.",
)

def cuda_library(
        name,
        srcs,
        hdrs = [],
        deps = [],
        copts = [],
        local_defines = [],
        separate = False,
        **kwargs):
    """A cc_library of .cu files, skipped (and said so) on a machine without the CUDA Toolkit.

    Args:
      name: the cc_library's name.
      srcs: .cu files. Headers that only they include belong to hdrs.
      hdrs: .h and .cuh files; a .cc file should include only those free of CUDA.
      deps: cc_library and cuda_library targets.
      copts: more flags for nvcc, such as -arch=sm_90a for Hopper-only instructions.
      local_defines: defines for these files alone.
      separate: device functions of one file may be called by another; the output group `registers`
        of NAME.objects is what the linker says that each kernel uses.
      **kwargs: passed to cc_library.
    """
    cuda_deps = deps + ["@cuda_toolkit//:cudart"]
    _cuda_objects(
        name = name + ".objects",
        srcs = srcs,
        hdrs = hdrs,
        copts = copts,
        local_defines = local_defines,
        separate = separate,
        deps = cuda_deps,
        tags = ["manual"],
        testonly = kwargs.get("testonly", False),
        target_compatible_with = CUDA_REQUIRES,
        visibility = ["//visibility:private"],
    )
    cc_library(
        name = name,
        srcs = [":" + name + ".objects"],
        hdrs = hdrs,
        deps = cuda_deps,
        linkstatic = True,
        target_compatible_with = CUDA_REQUIRES,
        # nvcc reads these headers; a C++ compiler cannot parse a .cuh on its own.
        features = ["-parse_headers", "-layering_check"],
        **kwargs
    )
