from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

import rankgain

include = [rankgain.get_include()]
setup(ext_modules=[Pybind11Extension("lambdamart", ["lambdamart.cpp"], include_dirs=include, cxx_std=17)])
