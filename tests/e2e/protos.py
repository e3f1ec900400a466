"""The protos of waystar.v1 as trees of declarations with their comments."""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "proto/waystar/v1"


@dataclasses.dataclass
class Declaration:
    """A statement, such as "rpc Find(A) returns (B)"; empty for a comment that belongs to none."""

    statement: str
    comment: list[str]
    children: list["Declaration"] = dataclasses.field(default_factory=list)

    @property
    def kind(self):
        """Returns the first word, such as "rpc"."""
        return self.statement.split()[0] if self.statement else ""

    @property
    def name(self):
        """Returns the second word, such as "Find"."""
        return re.split(r"[\s(]+", self.statement)[1]


def declarations(path):
    """Returns the declarations of a file. A comment is on the lines straight above its statement."""
    parents = [Declaration("", [])]
    comment, statement = [], ""
    for line in map(str.strip, path.read_text().splitlines()):
        if line.startswith("//"):
            comment.append(line[2:].removeprefix(" "))
        elif line == "}":
            parents.pop()
        elif line:
            statement = f"{statement} {line}".strip()
            if line[-1] in ";{}":
                declaration = Declaration(statement.rstrip(";{} "), comment)
                parents[-1].children.append(declaration)
                if line[-1] == "{":
                    parents.append(declaration)
                comment, statement = [], ""
        elif comment:
            parents[-1].children.append(Declaration("", comment))
            comment = []
    return parents[0].children
