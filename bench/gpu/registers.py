"""Prints what each put kernel takes: registers and bytes spilled, by policy pair, for sm_90."""

from tests.gpu import ptx


def main():
    kernels = ptx.put_kernels()
    names = sorted({k.kernel for k in kernels})
    rows = {}
    for k in kernels:
        rows.setdefault((k.publication, k.ordering), {})[k.kernel] = k
    print("registers/bytes spilled of each kernel, sm_90")
    print(f"{'publication':<16}{'ordering':<20}" + "".join(f"{name:>16}" for name in names))
    for (publication, ordering), row in sorted(rows.items()):
        cells = "".join(f"{row[n].registers:>12}/{row[n].spills:<3}" for n in names)
        print(f"{publication:<16}{ordering:<20}{cells}")


if __name__ == "__main__":
    main()
