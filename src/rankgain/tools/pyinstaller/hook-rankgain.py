"""PyInstaller hook that adds the backends, which are imported at run time, and the data files of rankgain."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

hiddenimports = [*collect_submodules("rankgain._compiled"), *collect_submodules("rankgain._reference")]
datas = collect_data_files("rankgain", includes=["sample/*", "tools/*.json"])
excludedimports = ["matplotlib"]  # 200 MB with its dependencies; applications that plot import it themselves
