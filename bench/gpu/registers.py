"""Prints what each put kernel takes: registers and bytes spilled, by policy pair, for sm_90."""

from tests.gpu import ptx


def main():
    print("registers/bytes spilled of each kernel, sm_90")
    print("\n".join(ptx.register_table(ptx.put_kernels())))


if __name__ == "__main__":
    main()
