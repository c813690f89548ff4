"""What a program holds on its heap, told by a library that is loaded before the C library."""

import mmap
import pathlib
import shutil
import struct
import subprocess

import programs

HERE = pathlib.Path(__file__).resolve().parent


def library(folder):
    """Builds it."""
    compiler = shutil.which("cc") or shutil.which("clang")
    if not compiler:
        programs.missing("there is no C compiler")
    built = folder / "allocations.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", built, HERE / "allocations.c", "-ldl"], check=True)
    return built


class Counter:
    """The numbers in the file that the library writes to."""

    def __init__(self, library, path):
        path.write_bytes(bytes(24))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 24)
        self.environment = {"LD_PRELOAD": str(library), "ALLOCATIONS": str(path)}

    def count(self):
        """Allocations so far."""
        return struct.unpack("Q", self.memory[:8])[0]

    def live(self):
        """Bytes in use. Unlike resident memory, this does not depend on load."""
        return struct.unpack("q", self.memory[16:])[0]

    def stays(self, before, bound):
        """What piles up for good stays; what only waits for the journal's thread goes."""
        programs.eventually(
            lambda: self.live() - before < bound, f"the heap goes back to {before} bytes and {bound} more")

    def show(self, number):
        """Has the program show so many of the next allocations."""
        self.memory[8:16] = struct.pack("q", number)
