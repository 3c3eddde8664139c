"""PyInstaller's hook for rankgain, which PyInstaller finds through the entry point `pyinstaller40`."""

from __future__ import annotations

import os


def get_hook_dirs() -> list[str]:
    """Return the folder that contains hook-rankgain.py."""
    return [os.path.dirname(__file__)]
