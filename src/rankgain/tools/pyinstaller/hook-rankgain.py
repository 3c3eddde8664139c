"""What PyInstaller cannot see in the imports of rankgain: the backends, chosen at run time, and the data files."""

from PyInstaller.utils.hooks import collect_data_files, collect_submodules

hiddenimports = [*collect_submodules("rankgain._compiled"), *collect_submodules("rankgain._reference")]
datas = collect_data_files("rankgain", includes=["sample/*", "tools/*.json"])
excludedimports = ["matplotlib"]  # 200 MB with its dependencies; an application that plots imports it
