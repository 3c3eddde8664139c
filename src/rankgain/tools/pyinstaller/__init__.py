"""The hook with which PyInstaller freezes rankgain; PyInstaller finds it by the entry point `pyinstaller40`."""

from __future__ import annotations

import os


def get_hook_dirs() -> list[str]:
    """The folder of hook-rankgain.py."""
    return [os.path.dirname(__file__)]
