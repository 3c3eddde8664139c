from setuptools import Extension, setup

import rankgain

setup(ext_modules=[Extension("row_metrics", ["row_metrics.c"], include_dirs=[rankgain.get_include()])])
