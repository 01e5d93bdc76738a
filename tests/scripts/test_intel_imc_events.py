# SPDX-License-Identifier: GPL-2.0-only
"""The tables of events of Ice Lake to Granite Rapids, compared with the list that was made of Intel's.

perf's own tables, which guests compare, leave out events that Intel calls experimental.
"""
import csv
import re
import unittest

from pmusuite import cache, data

SOURCE = cache.TREE / "drivers/intel_imc/events.c"
TABLES = {"ICX": "icx", "SPR": "spr", "EMR": "spr", "GNR": "gnr"}
FIXED = 0xff            # the config of the fixed counter; Intel's list has it as another counter of event 0
CODES = {"INTEL_IMC_CONFIG_FIXED": FIXED, "INTEL_IMC_CAS_SCH0": 5, "INTEL_IMC_CAS_SCH1": 6}
NAMES = {"cas_count_rd": "cas_count_read", "cas_count_wr": "cas_count_write", "cas_count_all": "cas_count"}
# In the list an event by the name that the in-tree driver has for half of the clock
CLOCKS = {"clockticks": "dclockticks"}


def macros(text):
    """{name: (parameters, body)} of those that are events, or lists of them."""
    found = re.findall(r"^#define (EVENT\w*)(?:\(([^)]*)\))?(.*)$", text.replace("\\\n", " "), re.M)
    return {name: (re.findall(r"\w+", parameters), body) for name, parameters, body in found}


def events(text, lists):
    """{name: (code, umask)} of a table of the source."""
    found = {}
    for kind, given in re.findall(r"\b(EVENT\w*)(?:\(([^)]*)\))?", text):
        arguments = [argument.strip() for argument in given.split(",")]
        if kind in ("EVENT", "EVENT_LINES"):
            name, code, umask = arguments
            found["".join(re.findall(r'"(\w*)"', name))] = CODES.get(code) or int(code, 16), int(umask, 16)
        elif kind != "EVENT_BOTH":
            parameters, body = lists[kind]
            for parameter, argument in zip(parameters, arguments):
                body = re.sub(rf"\b{parameter}\b", argument, body)
            found |= events(body, lists)
    return found


def tables():
    text = SOURCE.read_text()
    lists = macros(text)
    return {generation: events(re.search(rf"intel_imc_{name}_events\[\] = {{\n(.*?)^}};$", text, re.M | re.S)[1], lists)
            for generation, name in TABLES.items()}


class Events(unittest.TestCase):
    def test_each_event_of_the_list_has_a_name(self):
        path = data.path(data.XEON_EVENTS) or self.skipTest(data.missing(data.XEON_EVENTS))
        listed = {generation: 0 for generation in TABLES}
        ours = tables()
        with path.open(newline="") as lines:
            rows = [row for row in csv.DictReader(lines) if row["generation"] in TABLES]
        for row in rows:
            name = row["event"].removeprefix("UNC_M_").lower().replace(".", "_")
            if name == "clockticks_freerun":        # the free-running counter dclk
                continue
            generation, code, umask = row["generation"], int(row["code"], 16), int(row["umask"], 16)
            if generation == "ICX" and name == "hclockticks":
                code = FIXED
            elif generation != "ICX":
                name = CLOCKS.get(name, name)
            # Those of sub-channels keep their names.
            if generation != "GNR":
                name = NAMES.get(name, name)
            with self.subTest(generation, event=row["event"]):
                self.assertEqual(ours[generation].get(name), (code, umask))
                self.assertEqual(int(row["umask_ext"], 16), 0)
            listed[generation] += 1
        for generation, number in listed.items():
            self.assertGreater(number, 90, generation)


if __name__ == "__main__":
    unittest.main()
