"""Everything that exists only for Julia 1.5, which is what Debian can still give where nothing else can be had.

README.md in this folder says why it is here. Nothing of it is loaded where a registered PythonCall is.
"""
