# SPDX-License-Identifier: GPL-2.0-only
"""What tools and packages know of Xeons, from the driver's table: each processor is one row, which only the driver has."""
import re

from .cache import TREE

MADE = "tools/pmutools/xeons.py"
DRIVER = "scripts/packaging/pmu-driver"
README = "README.md"


def _read(name):
    return (TREE / "drivers/intel_imc" / name).read_text()


def _kinds(events):
    """Of a kind of events: {name: (numbers of a controller, clusters)}"""
    orders = {name: {int(nr): tuple(map(int, order.split(","))) for nr, order in re.findall(r"\.nr = (\d), \.order = \{ (.*?) \}", rows)}
              for name, rows in re.findall(r"intel_imc_clusters (\w+)\[\] = \{\n(.*?)\n\};", events, re.S)}
    common = int(re.search(r"#define INTEL_IMC_GNR_KIND.*?\.numbers = (\d)", events, re.S)[1])
    found = {}
    for name, body in re.findall(r"^struct intel_imc_kind intel_imc_(\w+)_kind = \{(.*?)\};$", events, re.M | re.S):
        numbers, clusters = re.search(r"\.numbers = (\d)", body), re.search(r"\.clusters = (\w+)", body)
        found[name] = int(numbers[1]) if numbers else common, orders[clusters[1]] if clusters else {}
    return found


def rows():
    """The processors: (id, name, CPU models, kind, the UBOX, where its channels are, do sources say how many there are)"""
    table = re.search(r"intel_imc_parts\[\] = \{\n(.*?)\n\};", _read("main.c"), re.S)[1]
    for name, body in re.findall(r"\[INTEL_IMC_(\w+)\] = \{\n(.*?)\n\t\},", table, re.S):
        blocks = re.search(r"\.blocks = &(\w+)", body)
        yield (name, re.search(r'\.name = "(.*?)"', body)[1],
               [int(model, 0) for model in re.search(r"\.models = \{ (.*?) \}", body)[1].split(",") if int(model, 0)],
               re.search(r"\.kind = &intel_imc_(\w+)_kind", body)[1], re.search(r"\.ubox = 0x(\w{4})", body)[1],
               blocks and bool(re.search(rf"{blocks[1]} = \{{[^}}]*\.table = true", _read("mmio.c"))),
               not blocks or blocks[1] in ("intel_imc_icx_blocks", "intel_imc_spr_blocks", "intel_imc_gnr_blocks"))


def ids():
    """{PCI id: the id of the first processor that has it}"""
    return dict(re.findall(r"\bINTEL_IMC_ID\(0x(\w{4}), INTEL_IMC_(\w+),", _read("main.c")))


def _plain(names):
    return " or ".join(dict.fromkeys(re.sub(r"-[ES]P$", "", name) for name in names))


def module():
    """The text of MADE."""
    kinds, every, models = _kinds(_read("events.c")), list(rows()), {}
    by_id = {row[0]: row for row in every}
    for row in every:
        for model in row[2]:
            models.setdefault(model, []).append(row)
    said = []
    for number, of in ids().items():
        same = [row[1] for row in every if row[4:6] == by_id[of][4:6] or (by_id[of][5] is not None and row[5] == by_id[of][5])]
        said.append((number, ("leads to memory channels, " if by_id[of][5] is not None else "memory channel, ") +
                     ("Xeons with a table of counters" if by_id[of][5] else ", ".join(dict.fromkeys(same)))))
    lines = ["# SPDX-License-Identifier: GPL-2.0-only", '"""Xeons, as drivers/intel_imc has them. Made by scripts/xeons: do not edit."""',
             "# Of CPU models of family 6: their name; how many numbers a controller's channels have; of so many nodes of a socket,",
             "# which of them the first pairs of channels belong to; and whose events they have", "MODELS = {"]
    lines += [f'    {model}: ("{_plain(row[1] for row in of)}", {kinds[of[0][3]][0]}, {kinds[of[0][3]][1]}, "{of[0][3].split("_")[0]}"),'
              for model, of in sorted(models.items())]
    lines += ["}", "# Of PCI ids: what the function is", "FUNCTIONS = {"]
    lines += [f'    "{number}": "{what}",' for number, what in said]
    lines += ["}", "UBOXES = (" + ", ".join(f'"{box}"' for box in dict.fromkeys(row[4] for row in every)) + ")"]
    return "\n".join(lines) + "\n"


def shell():
    """What pmu-driver knows: ids of channels, of what leads to those in memory, and which models of 3451's are served."""
    by_id = {row[0]: row for row in rows()}
    channels = [number.upper() for number, of in ids().items() if by_id[of][5] is None]
    beside = {number: of for number, of in ids().items() if by_id[of][5] is not None}
    asked = next(number for number, of in beside.items() if not by_id[of][5])
    models = [model for row in rows() if row[5] is False for model in row[2]]
    return f"\t# Made by scripts/xeons: from here\n\tchannels='{'|'.join(channels)}'\n" \
           f"\tin_memory='{'|'.join(beside)}' by_model='{asked}' models='{'|'.join(map(str, models))}'\n\t# to here\n"


def readme(text):
    """README, where a table has the CPU models: first those of which sources say how many channels they have."""
    for known, behind in (True, "Xeon E5"), (False, "Xeon D"):
        models = sorted({model for row in rows() if row[6] == known for model in row[2]})
        text, found = re.subn(rf"[\d, ]+ or \d+(?=: \[{behind})", f" {', '.join(map(str, models[:-1]))} or {models[-1]}", text)
        assert found == 1, f"{README} has no CPU models before {behind}"
    return text


def files():
    """{name: its text}"""
    script = (TREE / DRIVER).read_text()
    return {MADE: module(), README: readme((TREE / README).read_text()), DRIVER: re.sub(r"\t# Made by scripts/xeons: from here\n.*?\t# to here\n", lambda _: shell(), script, flags=re.S)}
