"""Checks of size: a reader should see a function at once, and a file as one thing."""

import ast
import re

from source import CPP, HEADERS, SOURCES, line_of

FUNCTION_LINES = 70
HEADER_LINES = 200
SOURCE_LINES = 400
COLUMNS = 100

# Words before a brace that opens a scope, in which functions are looked for.
_SCOPE = re.compile(
    r"(?:inline\s+|export\s+|typedef\s+)*(?:namespace|class|struct|union|enum|extern)\b"
)
# Parentheses that do not make a declaration a function.
_ATTRIBUTE = re.compile(
    r"\[\[.*?\]\]|\b(?:alignas|__align__|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)"
)
_TEMPLATE = re.compile(r"^\s*template\s*<[^{}]*?>\s*(?=[\w\[])")
_ACCESS = re.compile(r"^\s*(?:(?:public|private|protected)\s*:\s*)+")


def _opens_scope(head):
    head = _TEMPLATE.sub("", _ACCESS.sub("", _ATTRIBUTE.sub("", head))).strip()
    return bool(_SCOPE.match(head)) and "(" not in head


def _opens_function(head):
    # A concept is a list of requirements: its length is that of the interface.
    return ("(" in _ATTRIBUTE.sub("", head) or "[" in head) and "concept" not in head


def cpp_functions(text):
    """(first line, last line) of each function in text free of comments, strings, directives."""
    depth, function_depth, first, head_start = 0, None, 0, 0
    scopes = []  # depths of braces that hold declarations
    for match in re.finditer(r"[{};]", text):
        if match[0] == "{":
            head = text[head_start : match.start()]
            if function_depth is None and len(scopes) == depth:
                if _opens_scope(head):
                    scopes.append(depth)
                elif _opens_function(head):
                    function_depth = depth
                    first = line_of(text, head_start + len(head) - len(head.lstrip()))
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if function_depth == depth:
                yield first, line_of(text, match.start())
                function_depth = None
            if scopes and scopes[-1] == depth:
                scopes.pop()
        head_start = match.end()


def python_functions(text):
    """The same for Python and Starlark."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno


def function_length(source):
    """Functions have 70 lines at most."""
    if source.has_suffix(*CPP):
        functions = cpp_functions(source.statements)
    elif source.has_suffix(".py", ".bzl"):
        functions = python_functions(source.text)
    else:
        return
    for first, last in functions:
        if last - first + 1 > FUNCTION_LINES:
            yield first, f"a function of {last - first + 1} lines; {FUNCTION_LINES} at most"


def file_length(source):
    """Headers have 200 lines at most, sources 400."""
    limit = None
    if source.has_suffix(*HEADERS):
        limit = HEADER_LINES
    elif source.has_suffix(*SOURCES):
        limit = SOURCE_LINES
    if limit and len(source.lines) > limit:
        yield limit + 1, f"{len(source.lines)} lines; {limit} at most"


def line_length(source):
    """Lines have 100 columns at most."""
    if source.has_suffix(*HEADERS, *SOURCES):
        for number, line in enumerate(source.lines, 1):
            if len(line) > COLUMNS:
                yield number, f"{len(line)} columns; {COLUMNS} at most"
