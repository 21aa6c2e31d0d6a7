"""``python -m pybridge``."""

from .cli import main

main()
