"""PyInstaller hook that adds rankgain's data files and its backends, which are imported dynamically."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

hiddenimports = [*collect_submodules("rankgain._compiled"), *collect_submodules("rankgain._reference")]
datas = collect_data_files("rankgain", includes=["sample/*", "tools/*.json"])
excludedimports = ["matplotlib"]  # 200 MB with its dependencies; applications that plot import it themselves
