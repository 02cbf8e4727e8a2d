"""``python -m overcoat`` is the command `overcoat`."""

from overcoat.cli import main

if __name__ == "__main__":
    main()
