"""NexusFIX as a Conan 2 package, from this tree and with the distribution's libraries: docs/packages.md."""
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import copy, load


class NexusFix(ConanFile):
    name = "nexusfix"
    description = "A low-latency FIX engine"
    license = "MIT"
    settings = "os", "arch", "compiler", "build_type"
    package_type = "static-library"
    no_copy_source = True

    @property
    def tree(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        self.version = re.search(r"project\(nexusfix VERSION (\S+)", load(self, os.path.join(self.tree, "CMakeLists.txt")))[1]

    def export_sources(self):
        copy(self, "*", self.tree, self.export_sources_folder, excludes=(".git/*", "build/*", "packaging/conan/*"))

    def generate(self):
        CMakeToolchain(self, generator="Ninja").generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure(variables={"NFX_BUILD_TESTS": False, "NFX_BUILD_BENCH": False})
        cmake.build(target="installable")

    def package(self):
        CMake(self).install()

    def package_info(self):
        # The package's own nexusfix-config.cmake has the components; Conan makes none.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "nexusfix")]
