"""Prints registers of a thread, and blocks of 256 threads on an SM, of each caller, for sm_90.

They are the same whether the put is dormant or used, as it is the same kernel.
"""

from tests.gpu import callers


def main():
    print("registers/blocks of an SM, sm_90")
    print("\n".join(callers.table(callers.callers())))


if __name__ == "__main__":
    main()
