#!/usr/bin/env python3
"""The block of README.md that shows what the program prints.

  tests/cli/readme.py        writes the present output into README.md
"""

import os
import re
import subprocess

_OUTPUT = re.compile(r"(?<=\n```console\n\$ \./ringpost\n).*?(?=```\n)", re.DOTALL)


def shown_output(readme):
    return _OUTPUT.search(readme)[0]


def main():
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.path.join(root, "README.md")
    launcher = os.path.join(root, "ringpost")
    run = subprocess.run([launcher], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    with open(path, encoding="utf-8") as file:
        readme = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(_OUTPUT.sub(lambda _: run.stdout, readme, count=1))


if __name__ == "__main__":
    main()
