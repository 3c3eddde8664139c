"""The recorded output of trec_eval and other tools, unpacked into a temporary folder.

`golden/README.md` describes how it was recorded.
"""

import atexit
import shutil
import tarfile
import tempfile
from pathlib import Path

from support import TESTS

FOLDER = TESTS / "golden"


def unpacked() -> Path:
    folder = tempfile.mkdtemp(prefix="rankgain-golden-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with tarfile.open(FOLDER / "trec_eval.tar.xz") as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))  # since 3.11.4
    return Path(folder)


GOLDEN = unpacked()
