"""The rows of a sweep."""

import csv
import os


def rows_of(folder):
    """Of results.csv in this folder, each as a dictionary."""
    with open(os.path.join(folder, "results.csv"), encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))
