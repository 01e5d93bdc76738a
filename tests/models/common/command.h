/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text commands that a guest gives to the models. */
#ifndef PMU_MODELS_COMMAND_H
#define PMU_MODELS_COMMAND_H

/*
 * Run one line. True: @out is the answer, complete lines, possibly none.
 * False: @out is one line that says what is wrong and what would be right.
 */
bool pmu_command(const char *line, GString *out);

#endif
