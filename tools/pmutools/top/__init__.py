# SPDX-License-Identifier: GPL-2.0-only
"""pmu-top: what is in the modules below.

main        options, and how they fit together
frames      an interval's counts; where they come from: this machine, or a record
rows        the numbers made of them, as every kind of output has them
intel_imc, cmn, power_imc       a view each: what is counted, which numbers are made of it, how it is drawn
sampler     perf record, for what a counter does not tell: functions, programs
pcp         what PCP is to count
draw        pieces of pictures
screen      the terminal
output      JSON, CSV, Prometheus, SVG
"""
