"""How the compiled parts are built; everything else is in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# Cython's own machinery (memory views above all) goes into one module that all others import: in
# each of them it would be more than half of what the C compiler has to read.
SHARED = "overcoat._shared"


class BuildParts(build_ext):
    """Builds the C files in `build`, so that none lies beside the sources."""

    def finalize_options(self) -> None:
        """Use every core; keep what an editable install builds: the next has only changes to do."""
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()
        if self.editable_mode:
            self.build_lib = "build/editable"

    def build_extensions(self) -> None:
        """Turn all sources into C, then compile them with the flags of this compiler."""
        generated = cythonize(
            self.extensions,
            build_dir="build/cython",
            force=self.force,
            compiler_directives={"auto_pickle": False},  # no kernel is ever pickled
            shared_utility_qualified_name=SHARED,
        )
        sources_of = {extension.name: extension.sources for extension in generated}
        for extension in self.extensions:
            extension.sources = sources_of[extension.name]
            if self.compiler.compiler_type == "unix":  # MSVC's own flags are as good
                # A product and a sum stay two roundings, so that doubles are equal everywhere.
                extension.extra_compile_args += ["-O2", "-g0", "-ffp-contract=off"]
            if sys.platform == "linux":
                extension.extra_link_args += ["-Wl,-s"]
        super().build_extensions()


parts = [
    Extension(".".join(path.with_suffix("").parts[1:]), [path.as_posix()], depends=["setup.py"])
    for path in sorted(Path("src").rglob("*.pyx"))
]
shared = Extension(SHARED, [f"src/{SHARED.replace('.', '/')}.c"], depends=["setup.py"])

setup(ext_modules=[*parts, shared], cmdclass={"build_ext": BuildParts})
