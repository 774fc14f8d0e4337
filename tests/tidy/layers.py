"""Which layer may include which; the same rules as the package groups of the root BUILD file.

Bazel's visibility guards dependencies between libraries. This guards each #include, also those of
.cu and .cuh files, which Bazel does not look into.
"""

import os
import re

from source import CPP, line_of

_CORE = ["cache", "cost", "engine", "gpu", "memory", "nic", "wire"]
_SIM_CORE = {"sim/" + name for name in _CORE}
_CONTRACT = {"transport/abi"}
_TRANSPORT = _CONTRACT | {"transport"}
_SERVICE = _CONTRACT | (_SIM_CORE - {"sim/gpu"}) | {"sim/service"}
_BACKENDS = {"backends", "backends/live", "backends/mlx5", "backends/sim"}
_SIM = _SIM_CORE | {"sim/node", "sim/service", "sim/uverbs", "sim/uverbs/gpu"}
_BELOW_TOOLS = _TRANSPORT | _SIM | _BACKENDS | {"configs", "workloads"}

# Words that all sides share; everything may use them as it may use the byte contract.
_SHARED_FILES = (
    "transport/device_access.h",
    "transport/host_device.h",
    "transport/order.h",
    "transport/step.h",
    "transport/result.h",
    "transport/status.h",
)

# What a platform file says, as plain values: a run is given it as it is given its configuration.
_PLATFORM_FILE = "sim/cost/platform.h"

ALLOWED = {
    "transport/abi": _CONTRACT,
    "transport": _TRANSPORT,
    **{layer: _CONTRACT | _SIM_CORE for layer in _SIM_CORE},
    # What a NIC does has no clock, no cost and no cache, by construction.
    "sim/nic": _CONTRACT | {"sim/memory", "sim/nic", "sim/wire"},
    "sim/engine": _CONTRACT | {"sim/engine"},
    "sim/node": _CONTRACT | _SIM_CORE | {"sim/node"},
    "sim/service": _SERVICE,
    "sim/uverbs": _SERVICE | {"sim/uverbs", "sim/uverbs/gpu"},
    # The one place that knows how the transport's agent reaches memory of a GPU.
    "sim/uverbs/gpu": _SERVICE | _TRANSPORT | {"sim/uverbs/gpu"},
    "configs": _TRANSPORT | _SIM_CORE | {"configs"},
    "backends/sim": _TRANSPORT | _SIM_CORE | {"sim/node", "configs", "backends", "backends/sim"},
    "backends/live": _TRANSPORT | _SERVICE | {"configs", "backends", "backends/live"},
    "backends/mlx5": _TRANSPORT | {"configs", "backends", "backends/mlx5"},
    "backends": _TRANSPORT | _BACKENDS | {"configs", "sim/nic"},
    "workloads": _TRANSPORT | _BACKENDS | {"configs", "workloads"},
    "tools": _BELOW_TOOLS | {"tools"},
    "bench": _BELOW_TOOLS | {"bench", "tools"},
    "tests": _BELOW_TOOLS | {"bench", "tests", "tools"},
}

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+"([^"\n]+)"', re.MULTILINE)


def layer_of(path):
    """The innermost layer that holds the path; None for what is no part of a layer."""
    if path in _SHARED_FILES:
        return "transport/abi"
    folder = os.path.dirname(path)
    while folder and folder not in ALLOWED:
        folder = os.path.dirname(folder)
    return folder or None


def _includes(source):
    """(line, path) of each include of a file of this repository."""
    text = source.without_comments
    for match in _INCLUDE.finditer(text):
        path = match[1]
        if "/" not in path or path.startswith("."):
            path = os.path.normpath(os.path.join(os.path.dirname(source.path), path))
        yield line_of(text, match.start()), path


def include_layers(source):
    """A layer includes only itself and lower layers."""
    layer = layer_of(source.path)
    if layer is None or not source.has_suffix(*CPP):
        return
    for line, path in _includes(source):
        if path == _PLATFORM_FILE and "configs" in ALLOWED[layer]:
            continue
        target = layer_of(path)
        if target and target not in ALLOWED[layer]:
            yield line, f"{layer} includes {path} of {target}"


def own_header_first(source, exists=os.path.exists):
    """x.cc includes x.h before anything else, which proves that the header stands alone."""
    stem, suffix = os.path.splitext(source.path)
    if suffix not in (".cc", ".cu") or not exists(stem + ".h"):
        return
    first = re.search(r"^[ \t]*#[ \t]*include[ \t]+(\S+)", source.without_comments, re.MULTILINE)
    if first is None or first[1].strip('"') != stem + ".h":
        yield 1, f'the first include should be "{stem}.h"'
