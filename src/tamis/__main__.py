"""``python -m tamis``: a tour on embedded data; with arguments, the command ``tamis``."""

import sys

from tamis.cli import main
from tamis.cli.tour import tour

if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(prog_name="python -m tamis")
    tour()
