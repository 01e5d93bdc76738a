# SPDX-License-Identifier: GPL-2.0-only
"""Sphinx: the pages as HTML. They are written to be read as text, so there is no markup for Sphinx alone but index.md's."""
project = "pmu-suite"
copyright = "the pmu-suite developers"
extensions = ["myst_parser"]

# The source is the whole tree, since README.md links into this folder and the pages link back.
include_patterns = ["*.md", "Documentation/**.md"]
root_doc = "Documentation/index"

# A link may name a heading: cmn.md#what-is-refused
myst_heading_anchors = 3
# What follows a page's title may be any heading: README.md's sections have no parent.
suppress_warnings = ["myst.header"]

html_theme = "alabaster"
html_theme_options = {"page_width": "1180px", "body_max_width": "960px", "sidebar_width": "220px", "font_size": "16px"}
html_static_path = html_css_files = ["style.css"]
html_sidebars = {"**": ["navigation.html", "searchbox.html"]}
html_copy_source = False
html_show_sphinx = False
