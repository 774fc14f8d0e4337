"""Checks for words that must not stand in some place, or anywhere."""

import re

from source import CPP, HEADERS, find_all

_VIRTUAL_TIME = [
    "sim/engine",
    "sim/nic",
    "sim/cost",
    "sim/cache",
    "sim/memory",
    "sim/gpu",
    "backends/sim",
]
_HOST_CLOCK = (
    r"<chrono>|\b(?:steady_clock|system_clock|high_resolution_clock|random_device|gettimeofday|"
    r"clock_gettime)\b|\bstd::rand\b|(?<![\w.:>])rand\s*\("
)
_ONE_SOURCE = ["transport", "workloads"]
_PLATFORM_FILES = [
    "transport/cuda_port.cuh",
    "transport/host_device.h",
]
_PLATFORM_DEPENDENCE = (
    r"\b(?:asm|__asm__|__CUDACC__|__CUDA_ARCH__)\b|^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b"
)
_EMULATION = (
    r"(?i)emulat|simulat|preload|virtual (?:device|connectx|nic)|RINGPOST_\w+|\bsim(?:/|::)"
)
_INCLUDE_GUARD = re.compile(r"\A\s*#\s*ifndef\s+(\w+_H_?)\s*\n\s*#\s*define\s+\1\b")

# What says how the product was made, rather than what it is.
_INTERNAL = re.compile(
    "|".join([r"\.\./shared", "borrowed machine", "subagent", "device machine", "/work/",
              "AI assistant", "issue #"]),
    re.IGNORECASE,
)


def left_overs(source):
    """Nothing is left to do, or it is no part of the text."""
    if not source.is_under("tests/tidy"):
        for line, word in find_all(r"\b(?:TODO|FIXME|XXX)\b", source.text):
            yield line, word


def internal_words(source):
    """The repository speaks about the product only."""
    if source.is_under("tests/tidy", "LICENSE"):
        return
    for number, line in enumerate(source.lines, 1):
        match = _INTERNAL.search(line)
        if match:
            yield number, f"'{match[0]}' says nothing about the product"


def host_clock(source):
    """The simulator knows neither the host's clock nor its randomness: it is deterministic."""
    if source.has_suffix(*CPP) and source.is_under(*_VIRTUAL_TIME):
        for line, word in find_all(_HOST_CLOCK, source.code):
            yield line, f"'{word}' makes the simulation depend on the host"


def verbs(source):
    """rdma-core is used in backends/mlx5, the kernel's verbs in sim/uverbs; tests may use both."""
    if source.has_suffix(*CPP) and not source.is_under("backends/mlx5", "sim/uverbs", "tests"):
        for line, word in find_all(r"\b(?:ibv|mlx5dv)_[a-z]\w*", source.code):
            yield line, f"'{word}' belongs to backends/mlx5"


def knows_its_device(source):
    """backends/mlx5 cannot know whether its device is emulated: the device alone says so."""
    if source.is_under("backends/mlx5"):
        for line, word in find_all(_EMULATION, source.text):
            yield line, f"'{word}' says that a device may be emulated"


def platform_dependence(source):
    """One transport source for host, device and simulator: only two files tell them apart."""
    if not source.has_suffix(*CPP) or not source.is_under(*_ONE_SOURCE):
        return
    if source.is_under(*_PLATFORM_FILES):
        return
    code = source.code
    if source.has_suffix(*HEADERS):
        code = _INCLUDE_GUARD.sub(lambda match: "\n" * match[0].count("\n"), code)
    for line, word in find_all(_PLATFORM_DEPENDENCE, code):
        yield line, f"'{word}' belongs to {' or '.join(_PLATFORM_FILES)}"


def asks_whether_simulated(source):
    """The transport and its clients cannot tell a simulated NIC from another one."""
    if source.has_suffix(*CPP) and source.is_under(*_ONE_SOURCE):
        for line, text in find_all(r"(?i)\bif\b[^\n{;]*simulat|\bis_?simulated", source.code):
            yield line, f"'{text}' asks what must not matter"
