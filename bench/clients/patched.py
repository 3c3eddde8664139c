"""An installed package a second time in one process, with a patch of this folder."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


def patch_of(package: str) -> Path:
    """The patch, whose name has the release it was made for; another release must not be taken for it."""
    (patch,) = HERE.glob(f"{package}-*.patch")
    wanted, installed = patch.stem.removeprefix(f"{package}-"), metadata.version(package)
    if installed != wanted:
        raise SystemExit(f"{patch.name} is for {package} {wanted}, and {installed} is installed")
    return patch


def both(package: str, module: str, folder: Path) -> tuple[ModuleType, ModuleType]:
    """A module of a package as it was released, and that of a patched copy in `folder`."""
    released = importlib.import_module(module)
    (place,) = importlib.import_module(package).__path__
    shutil.copytree(place, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    command = ["patch", "--strip=1", "--fuzz=0", f"--directory={folder}", f"--input={patch_of(package)}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    kept = _taken(package)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    changed = importlib.import_module(module)
    sys.path.remove(str(folder))
    _taken(package)
    sys.modules.update(kept)
    assert str(changed.__file__).startswith(str(folder))
    return released, changed


def _taken(package: str) -> dict[str, ModuleType]:
    """The modules of a package, which are imported no more."""
    names = [name for name in sys.modules if name == package or name.startswith(f"{package}.")]
    return {name: sys.modules.pop(name) for name in names}
