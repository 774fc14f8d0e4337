"""ptx_report: what nvcc makes of the kernels of one .cu file, without a GPU."""

load("@cuda_toolkit//:defs.bzl", "CUDA_REQUIRES", "CUDA_ROOT", "CUDA_VERSION")
load("@rules_cc//cc/common:cc_info.bzl", "CcInfo")

# Host and device parts compile without a warning.
_FLAGS = [
    "-std=c++20",
    "-O3",
    "-arch=sm_90",
    "-I.",
    "-Werror=all-warnings",
    "-Xcompiler=-Wall,-Wextra,-Werror",
]

# ptxas writes its statistics to stderr, and --keep leaves the PTX that the object was made from.
_COMMAND = """
set -eu
nvcc=$1 src=$2 obj=$3 ptx=$4 report=$5
shift 5
kept=$(mktemp -d)
trap 'rm -rf "$kept"' EXIT
"$nvcc" "$@" -Xptxas=-v --keep --keep-dir "$kept" -c "$src" -o "$obj" 2>"$report" || {
  cat "$report" >&2
  exit 1
}
stem=${src##*/}
mv "$kept/${stem%.cu}.ptx" "$ptx"
"""

def _ptx_report_impl(ctx):
    headers = [dep[CcInfo].compilation_context.headers for dep in ctx.attr.deps]
    src = ctx.file.src
    obj, ptx, report = [
        ctx.actions.declare_file(ctx.label.name + "." + kind)
        for kind in ["o", "ptx", "ptxas"]
    ]
    ctx.actions.run_shell(
        command = _COMMAND,
        arguments = [CUDA_ROOT + "/bin/nvcc", src.path, obj.path, ptx.path, report.path] + _FLAGS,
        inputs = depset([src], transitive = headers),
        outputs = [obj, ptx, report],
        mnemonic = "CudaCompile",
        progress_message = "Compiling %s with nvcc" % src.short_path,
        env = {"CUDA_VERSION": CUDA_VERSION, "PATH": "/usr/local/bin:/usr/bin:/bin"},
    )
    files = depset([ptx, report])
    return [DefaultInfo(files = files, runfiles = ctx.runfiles(transitive_files = files))]

_ptx_report = rule(
    implementation = _ptx_report_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "src": attr.label(allow_single_file = [".cu"], mandatory = True),
    },
)

def ptx_report(name, src, deps, **kwargs):
    """NAME.ptx, the PTX of the file's kernels for sm_90, and NAME.ptxas, what ptxas -v says.

    Args:
      name: the target's name.
      src: one .cu file.
      deps: cc_library targets whose headers it includes.
      **kwargs: common attributes.
    """
    _ptx_report(
        name = name,
        src = src,
        deps = deps,
        target_compatible_with = CUDA_REQUIRES,
        **kwargs
    )
