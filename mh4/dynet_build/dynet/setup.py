"""Make the wheel of DyNet from the library and the bindings that are compiled in build. Replaces DyNet's own setup.py.

The library is in the wheel, beside the bindings, where they look for it. So the wheel can be installed anywhere.
"""

import shutil
import sys
from glob import glob

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class AddLibrary(build_ext):
    def run(self) -> None:
        super().run()
        for path in glob("build/dynet/libdynet.*"):
            shutil.copy(path, self.build_lib)


shutil.copy("build/python/dynet.py", "python")  # which cmake has made
bindings = Extension(
    "_dynet",
    [],
    language="c++",
    extra_objects=glob("build/dynet/CMakeFiles/bindings.dir/**/*.o", recursive=True),
    libraries=["dynet"],
    library_dirs=["build/dynet"],
    extra_link_args=["-Wl,-rpath," + ("@loader_path" if sys.platform == "darwin" else "$ORIGIN")],
)
setup(
    name="dyNET",
    version="2.1.2",
    description="The Dynamic Neural Network Toolkit, as mh4 needs it",
    url="https://github.com/clab/dynet",
    license="Apache 2.0",
    install_requires=["numpy"],
    package_dir={"": "python"},
    py_modules=["dynet", "dynet_config", "dynet_viz"],
    ext_modules=[bindings],
    cmdclass={"build_ext": AddLibrary},
)
