"""An installed package twice in one process: as it was released, and with a patch of this folder."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


class Loaded:
    """A module, whose package can be imported from only inside `with`, where functions do so when they are called."""

    def __init__(self, package: str, name: str) -> None:
        self.package = package
        self.module = importlib.import_module(name)
        self.modules = self._taken()

    def _taken(self) -> dict[str, ModuleType]:
        """The modules of the package, which are imported no more."""
        names = [name for name in sys.modules if name == self.package or name.startswith(f"{self.package}.")]
        return {name: sys.modules.pop(name) for name in names}

    def __enter__(self) -> ModuleType:
        sys.modules.update(self.modules)
        return self.module

    def __exit__(self, *_: object) -> None:
        self.modules = self._taken()


def both(package: str, module: str, folder: Path) -> tuple[Loaded, Loaded]:
    """A module of a package as it was released, and that of a patched copy in `folder`."""
    released = Loaded(package, module)
    (place,) = released.modules[package].__path__
    shutil.copytree(place, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    command = ["patch", "--strip=1", "--fuzz=0", f"--directory={folder}", f"--input={patch_of(package)}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    changed = Loaded(package, module)
    sys.path.remove(str(folder))
    assert str(changed.module.__file__).startswith(str(folder))
    return released, changed


def patch_of(package: str) -> Path:
    """The patch, whose name has the release it was made for; another release must not be taken for it."""
    (patch,) = HERE.glob(f"{package}-*.patch")
    wanted, installed = patch.stem.removeprefix(f"{package}-"), metadata.version(package)
    if installed != wanted:
        raise SystemExit(f"{patch.name} is for {package} {wanted}, and {installed} is installed")
    return patch
