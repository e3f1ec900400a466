"""A memory limit for one process: a control group where one can be made, otherwise a limit of address space."""

import os
import resource

ROOT = "/sys/fs/cgroup"


def _own_paths():
    """(version, folder, relative path) of the hierarchies that may limit memory, the newer version first."""
    found = []
    with open("/proc/self/cgroup", encoding="ascii") as lines:
        for line in lines:
            _, controllers, path = line.strip().split(":", 2)
            if controllers == "":
                found += [(2, folder, path) for folder in (ROOT, f"{ROOT}/unified")]
            elif "memory" in controllers.split(","):
                found.append((1, f"{ROOT}/memory", path))
    return sorted(found, key=lambda hierarchy: -hierarchy[0])


class MemoryLimit:
    """Made before the process, which calls enter() between fork and exec."""

    def __init__(self, name, mib):
        self.mib = mib
        self.folder = None
        self.kind = "RLIMIT_AS"
        for version, root, path in _own_paths():
            # A group of version 2 that has processes hands no controllers to groups below it: those beside it may have.
            above = [path] if version == 1 else [path, os.path.dirname(path)]
            for parent in above:
                folder = f"{root}{parent.rstrip('/')}/{name}"
                limit = "memory.max" if version == 2 else "memory.limit_in_bytes"
                try:
                    os.mkdir(folder)
                    # Opened as it is: in a folder that is no control group there is no such file.
                    with open(f"{folder}/{limit}", "r+", encoding="ascii") as file:
                        file.write(str(mib << 20))
                except OSError:
                    self._remove(folder)
                    continue
                self.folder, self.kind = folder, f"cgroup v{version}"
                return

    def enter(self):
        if self.folder:
            with open(f"{self.folder}/cgroup.procs", "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
        else:
            # Stacks and arenas of threads that nothing has touched count here, so there has to be room for them.
            most = (self.mib + 1536) << 20
            resource.setrlimit(resource.RLIMIT_AS, (most, most))

    def remove(self):
        if self.folder:
            self._remove(self.folder)

    @staticmethod
    def _remove(folder):
        try:
            os.rmdir(folder)
        except OSError:
            pass
