# SPDX-License-Identifier: GPL-2.0-only
"""The tables of a mesh's events, compared with the list that was made of the manuals and the in-tree driver."""
import csv
import re
import unittest

from pmusuite import cache, data

DRIVER = cache.TREE / "drivers/cmn"
PRODUCTS = {"cmn600": "CMN_600", "cmn650": "CMN_650", "ci700": "CMN_CI700", "cmn700": "CMN_700", "cmns3": "CMN_S3"}
# Of two products the list has the first revisions alone.
LISTED = {"CMN_600_R1": "CMN_600", "CMN_S3_R1": "CMN_S3"}
LATER = ("CMN_600_R2", "CMN_S3_R2")
# Arm's own list of S3 has these of RN-I, too; ours was made before (Documentation/hardware/cmn.md).
S3_LATER = {0x000a | number << 16 for number in range(0x17, 0x24)}
# Not in tables: made of parts, as many as a mesh has; guests compare them with the in-tree driver's.
MADE = ("mxp_", "dtc_", "watchpoint_")


def source(name):
    return (DRIVER / name).read_text()


def types():
    """{name: number} of the types of nodes."""
    return {name: int(number, 16) for name, number in
            re.findall(r"^\t(CMN_TYPE_\w+) = (0x[0-9a-f]{4}),$", source("part.h"), re.M)}


def sets():
    """{name: the names of products it stands for}."""
    found = {name: {name} for name in (*PRODUCTS.values(), *LATER)}
    found |= {name: {of} for name, of in LISTED.items()}
    for name, value in re.findall(r"^#define (CMN_\w+)\s+\(((?:CMN_\w+(?: \| )?)+)\)$",
                                  source("part.h") + source("event-tables.c"), re.M):
        found[name] = set().union(*(found[part] for part in value.split(" | ")))
    return found


def filters():
    """{name: what its values are called}."""
    return {name: re.findall(r'"(\w+)"', values) for name, values in
            re.findall(r"^CMN_FILTER_NAMES\((\w+), \w+,([^;]*)\);$", source("event-tables.c"), re.M)}


def tables():
    """{(name, config): products} of all events in the driver's tables; a second filter, of S3 r2 alone, is left out."""
    text, found = source("event-tables.c"), {}
    listed = [(kind, prefix, None, prefix, "0") for kind, prefix in re.findall(r"^\tCMN_TABLE\((\w+), (\w+)\),$", text, re.M)]
    # Types that have the first of another type's, with lower ids.
    listed += re.findall(r'^\t{ (\w+), "(\w+)_", (\d+), (\w+)_rows, .below = (\w+) },$', text, re.M)
    for kind, prefix, first, of, below in listed:
        rows = re.search(rf"cmn_event_row {of}_rows\[\] = {{\n(.*?)^}};$", text, re.M | re.S).group(1)
        for row in rows.splitlines()[:first and int(first)]:
            name, number, products, names = re.fullmatch(
                r'\t{ "(\w+)", (0x[0-9a-f]+), (\w+)(?:, &(\w+))?(?:, &\w+)? },', row).groups()
            number = int(number, 16) - int(below, 16)
            for value, kind_of in enumerate(filters()[names] if names else [""]):
                config = types()[kind] | number << 16 | value << 27
                key = "_".join(filter(None, (prefix, name, kind_of))), config
                found.setdefault(key, set()).update(sets()[products] & set(PRODUCTS.values()))
    return found


class Events(unittest.TestCase):
    def test_the_tables_are_the_list(self):
        path = data.path(data.CMN_EVENTS) or self.skipTest(data.missing(data.CMN_EVENTS))
        listed = {}
        with path.open(newline="") as lines:
            for row in csv.DictReader(lines):
                if not row["name"].startswith(MADE):
                    listed[row["name"], int(row["config"], 16)] = {
                        name for column, name in PRODUCTS.items() if row[column] == "1"}
                    if int(row["config"], 16) in S3_LATER:
                        listed[row["name"], int(row["config"], 16)].add("CMN_S3")
        self.assertGreater(len(listed), 300)
        found = tables()
        for (name, _), products in (*listed.items(), *found.items()):
            if name.startswith("cc"):       # CMN-600 has no such node, whatever is said of its events
                products.discard("CMN_600")
        # Events of CMN-600 r2 alone are those that others have; S3 r2's have no other list.
        self.assertEqual({key: products for key, products in found.items() if products}, listed)


if __name__ == "__main__":
    unittest.main()
