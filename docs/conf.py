"""How Sphinx builds the site, and the page for man.

sphinx-build -W --keep-going docs site            # the site, site/index.html
sphinx-build -W --keep-going -b man docs site/man # site/man/valmatch.1
"""

from __future__ import annotations

import sys
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "valmatch"
author = "The valmatch developers"
copyright = author
release = version = version_of("valmatch")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "from_the_program"]
exclude_patterns = ["_ext"]
suppress_warnings = ["misc.highlighting_failure"]  # outputs in console blocks are no language

myst_heading_anchors = 4
myst_enable_extensions = ["deflist", "colon_fence"]

smartquotes = False  # two dashes are an option
default_role = "literal"  # names in single backticks, as docstrings have them
autodoc_preserve_defaults = True
autodoc_typehints = "none"  # the docstrings have types where they say what a parameter is
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False  # types are words, such as `(n,) array`, and no names to link
napoleon_use_ivar = True  # attributes are described with their class, once

html_theme = "furo"
html_title = f"valmatch {release}"
html_show_sourcelink = False
html_copy_source = False
html_static_path: list[str] = ["_static"]
html_css_files = ["tables.css"]

man_pages = [("reference/commands", "valmatch", "experiments with matchmaking", [author], 1)]
