"""A file under check, with and without its comments and strings."""

import functools
import re

CPP = (".h", ".cuh", ".cc", ".cu")
HEADERS = (".h", ".cuh")
SOURCES = (".cc", ".cu", ".py", ".bzl")

# Numbers come first: the ' of 1'000 opens no character.
_TOKEN = re.compile(
    r"""(?P<number>\b\d[\w.']*)
      | (?P<comment>//[^\n]*|/\*.*?\*/)
      | (?P<string>R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)"
                 |"(?:\\.|[^"\\\n])*"
                 |'(?:\\.|[^'\\\n])*')""",
    re.DOTALL | re.VERBOSE,
)
# With the lines that a backslash continues.
_DIRECTIVE = re.compile(r"^[ \t]*#(?:\\\n|[^\n])*", re.MULTILINE)


def _blank(text):
    """As many lines as `text`, with nothing on them."""
    return "\n" * text.count("\n")


class Source:
    """One tracked file. `path` is relative to the repository's root."""

    def __init__(self, path, text):
        self.path = path
        self.text = text

    @property
    def lines(self):
        return self.text.splitlines()

    def has_suffix(self, *suffixes):
        return self.path.endswith(suffixes)

    def is_under(self, *folders):
        """Whether the file is one of these paths or lies below one."""
        return any(self.path == f or self.path.startswith(f + "/") for f in folders)

    @functools.cached_property
    def without_comments(self):
        """C++ text with its strings; every line keeps its number."""

        def replace(match):
            return _blank(match[0]) + " " if match["comment"] else match[0]

        return _TOKEN.sub(replace, self.text)

    @functools.cached_property
    def code(self):
        """C++ text without comments and with empty strings; every line keeps its number."""

        def replace(match):
            if match["string"] and not self._is_include(match):
                return '""' + _blank(match[0])
            return _blank(match[0]) + " " if match["comment"] else match[0]

        return _TOKEN.sub(replace, self.text)

    @functools.cached_property
    def statements(self):
        """`code` without preprocessor directives."""
        return _DIRECTIVE.sub(lambda match: _blank(match[0]), self.code)

    def _is_include(self, match):
        line = self.text[self.text.rfind("\n", 0, match.start()) + 1 : match.start()]
        return line.strip() == "#include"


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def find_all(pattern, text):
    """(line, matched text) of each match."""
    for match in re.finditer(pattern, text, re.MULTILINE):
        yield line_of(text, match.start()), match[0].strip()
