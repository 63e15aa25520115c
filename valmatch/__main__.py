"""Entry point of ``valmatch`` and ``python -m valmatch``."""

from valmatch.cli import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
