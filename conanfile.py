# SPDX-License-Identifier: MIT
"""The Conan 2 recipe: `conan create . -s compiler.cppstd=20`.

Nothing is compiled, so all settings share one package. Where xtensor and xsimd are the system's (libxtensor-dev and
libxsimd-dev of Debian), a profile says so: [platform_requires].
"""
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy, load
from conan.tools.scm import Version


class Calque(ConanFile):
    name = "calque"
    description = "Traced numeric functions: traced by the compiler, cached by shape"
    license = "MIT"
    topics = ("header-only", "tensor", "xtensor", "autodiff", "tracing")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True
    test_package_folder = "packaging/conan/test_package"

    def set_version(self):
        config = load(self, os.path.join(self.recipe_folder, "include/calque/core/config.hpp"))
        self.version = ".".join(re.search(rf"define CALQUE_VERSION_{part} (\d+)", config).group(1)
                                for part in ("MAJOR", "MINOR", "PATCH"))

    def requirements(self):
        self.requires("xtensor/[>=0.24.3 <1]")
        self.requires("xsimd/[>=8.1]")

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "*.hpp", os.path.join(self.source_folder, "include"), os.path.join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.bindirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "calque")
        self.cpp_info.set_property("cmake_target_name", "calque::calque")
        self.cpp_info.set_property("pkg_config_name", "calque")
        if self.settings.get_safe("os") in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["pthread"]
        # cmake/calqueCompilerOptions.cmake says why.
        newer_clang = (self.settings.get_safe("compiler") == "clang"
                       and Version(self.settings.get_safe("compiler.version")) >= "19")
        xtensor = [d.ref.version for d in self.dependencies.values() if d.ref.name == "xtensor"]  # none: the system's
        if newer_clang and not any(version >= "0.26" for version in xtensor):
            self.cpp_info.cxxflags = ["-fno-relaxed-template-template-args",
                                      "-Wno-deprecated-no-relaxed-template-template-args"]
