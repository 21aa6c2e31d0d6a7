"""From MXNet.jl to Python.

`source` reads a file with tree-sitter, `lower` (with `lower_*` and `precedence`) makes the tree of `tree` of it,
`scopes` binds its names, `infer` (with `infer_*`, `annotations`, `arithmetic` and `growth`) finds out what is known of
values. `translator` holds the state while `statements`, `definitions`, `expressions` and their neighbours write Python;
what single functions become stands in the tables `base_*` (Julia's own) and `mx_*` (MXNet.jl's), gathered by `rules`.
`custom`, `symbolic` and `training` turn differentiable functions and networks; `output` formats, `report` and `page`
tell, `project`, `atomic` and `command` deal with files.
"""

from __future__ import annotations

from .file import Translated as Translated
from .file import translate as translate
