#!/usr/bin/env python3
"""Writes the messages and methods of Waystar as C#, with readers and writers of their JSON.

    generate.py DESCRIPTORS SERVICE_CONFIG OUT.cs

DESCRIPTORS is made by `protoc --include_imports --include_source_info --descriptor_set_out`. Methods that
SERVICE_CONFIG lets clients retry only read. Answers get readers, and requests writers.
"""

import json
import re
import sys
from xml.sax.saxutils import escape

PACKAGE = ".waystar.v1."
# Types of fields in descriptors.
MESSAGE, ENUM = 11, 14
# The C# type of a scalar, and how it is read.
SCALARS = {
    1: ("double", "json.Double()"), 2: ("float", "(float)json.Double()"),
    3: ("long", "json.Int64()"), 4: ("ulong", "json.UInt64()"), 6: ("ulong", "json.UInt64()"),
    5: ("int", "(int)json.Int64()"), 13: ("uint", "(uint)json.Int64()"), 8: ("bool", "json.Bool()"),
    9: ("string", "json.String()"), 12: ("byte[]", "json.Bytes()"),
}
# Messages that have a C# type of their own.
KNOWN = {
    ".google.protobuf.Duration": ("TimeSpan", "json.Duration()"),
    ".google.protobuf.Timestamp": ("DateTime", "json.Timestamp()"),
    ".google.rpc.Status": ("WaystarError", "WaystarError.Read(json)"),
}
DEFAULTS = {"string": ' = "";', "byte[]": " = new byte[0];"}
FILE = """// Generated from the protos of Waystar.
using System;
using System.Collections.Generic;

namespace Waystar.V1
{
TYPES}
"""
WRITE = """
        /// <summary>Returns a copy that shares the values of all fields.</summary>
        public OWN Copy() => (OWN)MemberwiseClone();

        public void Write(JsonWriter json)
        {
            json.Begin('{');
MEMBERS            json.End('}');
        }
"""
READ = """
        public static OWN Read(JsonReader json)
        {
            var message = new OWN();
            while (json.NextName(out var name))
            {
                switch (name)
                {
CASES                    default: json.Skip(); break;
                }
            }
            return message;
        }
"""


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields_of(data):
    """Returns the values of a serialized message by the numbers of its fields."""
    fields = {}
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        # Descriptors have numbers, and what is preceded by its length.
        value, at = varint(data, at)
        if key & 7 == 2:
            value, at = data[at : at + value], at + value
        fields.setdefault(key >> 3, []).append(value)
    return fields


def messages_of(fields, number):
    return [fields_of(each) for each in fields.get(number, [])]


def text(fields, number):
    return fields.get(number, [b""])[0].decode()


def pascal(name):
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def class_name(full_name):
    return full_name[len(PACKAGE) :].replace(".", "")


def comments_of(file):
    comments = {}
    for location in messages_of(messages_of(file, 9)[0], 1):
        path, at = (), 0
        packed = location.get(1, [b""])[0]
        while at < len(packed):
            number, at = varint(packed, at)
            path += (number,)
        comments[path] = location.get(3, [b""])[0]
    return comments


class Descriptors:
    def __init__(self, data):
        self.messages, self.enums, self.services = {}, {}, {}
        self.maps = set()  # Their entries, all from strings to strings.
        for file in messages_of(fields_of(data), 1):
            if f".{text(file, 2)}." == PACKAGE:
                comments = comments_of(file)
                self.add_types(PACKAGE, file, (4, 5), (), comments)
                for i, each in enumerate(messages_of(file, 6)):
                    self.services[text(each, 1)] = self.add(each, comments, (6, i))

    @staticmethod
    def add(fields, comments, path):
        """Returns a descriptor and its fields, values or methods, with comments as field 0."""
        members = [{**each, 0: [comments[path + (2, i)]]} for i, each in enumerate(messages_of(fields, 2))]
        return {**fields, 0: [comments[path]]}, members

    def add_types(self, scope, fields, numbers, path, comments):
        for number, types in zip(numbers, (self.messages, self.enums)):
            for i, each in enumerate(messages_of(fields, number)):
                name = scope + text(each, 1)
                if types is self.messages and 7 in each and 7 in messages_of(each, 7)[0]:
                    self.maps.add(name)
                    continue
                types[name] = self.add(each, comments, path + (number, i))
                if types is self.messages:
                    self.add_types(name + ".", each, (3, 4), path + (number, i), comments)

    def reachable(self, roots):
        found, left = set(), list(roots)
        while left:
            name = left.pop()
            if name not in found:
                found.add(name)
                left += [text(field, 6) for field in self.messages.get(name, ({}, []))[1]]
        return found


def summary(fields, indent):
    lines = f"<summary>{escape(text(fields, 0).strip())}</summary>".replace("\n ", "\n").split("\n")
    return "".join(f"{indent}/// {line}".rstrip() + "\n" for line in lines if text(fields, 0))


def member(field, descriptors):
    """Returns the property of a field, and the code that writes and reads it."""
    name = pascal(text(field, 1))
    key, kind, type_name = f'"{text(field, 10)}"', field[5][0], text(field, 6)
    if type_name in descriptors.maps:
        read = f"while (json.NextName(out var key)) {{ message.{name}[key] = json.String(); }}"
        return f"Dictionary<string, string> {name} {{ get; }} = new Dictionary<string, string>();", "", read
    own = class_name(type_name)
    types = {**SCALARS, ENUM: (own, f"({own})json.Enum({own}Names.All)"), MESSAGE: (own, f"{own}.Read(json)")}
    cs_type, read = KNOWN.get(type_name) or types[kind]
    cast = "(int)" if kind == ENUM else ""
    if field[4][0] == 3:
        items = f"foreach (var item in {name}) {{ json.Value({cast}item); }}"
        write = f"if ({name}?.Count > 0) {{ json.Key({key}).Begin('['); {items} json.End(']'); }}"
        read = f"while (json.NextItem()) {{ message.{name}.Add({read}); }}"
        return f"List<{cs_type}> {name} {{ get; set; }} = new List<{cs_type}>();", write, read
    is_reference = kind == MESSAGE and cs_type not in ("TimeSpan", "DateTime") or cs_type in DEFAULTS
    # A member of a oneof, an optional field, or a message.
    is_nullable = 9 in field or kind == MESSAGE
    mark = "?" if is_nullable and not is_reference else ""
    default = "" if is_nullable else DEFAULTS.get(cs_type, "")
    has_value = f"{name}?.Length > 0" if is_reference else f"{name} != default({cs_type})"
    condition = f"{name} != null" if is_nullable else has_value
    write = f"if ({condition}) {{ json.Key({key}).Value({cast}{name}{'.Value' if mark else ''}); }}"
    return f"{cs_type}{mark} {name} {{ get; set; }}{default}", write, f"message.{name} = {read};"


def write_message(name, descriptors, is_read, is_written):
    descriptor, fields = descriptors.messages[name]
    members = [(field, *member(field, descriptors)) for field in fields]
    is_query = is_written and {"map", "view"} <= {text(field, 1) for field in fields}
    base = " : IQuery" if is_query else " : IMessage" if is_written else ""
    result = f"{summary(descriptor, '    ')}    public sealed partial class {class_name(name)}{base}\n    {{\n"
    for field, declaration, _, _ in members:
        result += f"{summary(field, '        ')}        public {declaration}\n"
    if is_query:
        result += "\n        IQuery IQuery.Copy() => Copy();\n"
    if is_written:
        result += WRITE.replace("MEMBERS", "".join(f"            {write}\n" for _, _, write, _ in members))
    if is_read:
        cases = [f'                    case "{text(field, 10)}": {read} break;\n' for field, _, _, read in members]
        result += READ.replace("CASES", "".join(cases))
    return result.replace("OWN", class_name(name)) + "    }\n\n"


def write_enum(name, descriptor, values):
    prefix = re.sub("(?<=[a-z])(?=[A-Z])", "_", name.rsplit(".", 1)[1]).upper() + "_"
    # The reason of an error is text, as it may be one that this client does not know.
    is_reason = name == PACKAGE + "ErrorReason"
    result = summary(descriptor, "    ")
    result += f"    public {'static class' if is_reason else 'enum'} {class_name(name)}\n    {{\n"
    values = sorted(values, key=lambda value: value.get(2, [0])[0])
    for number, value in enumerate(values):
        assert value.get(2, [0])[0] == number, f"{name} has gaps"
        short = pascal(text(value, 1).removeprefix(prefix).lower())
        line = f'public const string {short} = "{text(value, 1)}";' if is_reason else f"{short} = {number},"
        result += f"{summary(value, '        ')}        {line}\n"
    names = ", ".join(f'"{text(value, 1)}"' for value in values)
    array = f"public static readonly string[] All = {{ {names} }};"
    return f"{result}    }}\n\n    static class {class_name(name)}Names {{ {array} }}\n\n"


def write_service(name, descriptor, methods, retried):
    result = f"{summary(descriptor, '    ')}    public static class {name}\n    {{\n"
    service = f"waystar.v1.{name}"
    for method in methods:
        call, request, answer = text(method, 1), class_name(text(method, 2)), class_name(text(method, 3))
        reads = {"service": service} in retried or {"service": service, "method": call} in retried or call == "WatchMap"
        members = f'Path = "/{service}/{call}", Read = {answer}.Read, OnlyReads = {str(reads).lower()}'
        result += f"{summary(method, '        ')}        public static readonly Method<{request}, {answer}> {call} =\n"
        result += f"            new Method<{request}, {answer}> {{ {members} }};\n"
    return result + "    }\n\n"


def main(descriptors_file, config_file, out_file):
    with open(descriptors_file, "rb") as file:
        descriptors = Descriptors(file.read())
    with open(config_file, encoding="utf-8") as file:
        retried = [name for each in json.load(file)["methodConfig"] if "retryPolicy" in each for name in each["name"]]
    methods = [method for _, methods in descriptors.services.values() for method in methods]
    is_written = descriptors.reachable(text(method, 2) for method in methods)
    is_read = descriptors.reachable(text(method, 3) for method in methods)
    types = [write_service(name, *service, retried) for name, service in descriptors.services.items()]
    types += [write_message(name, descriptors, name in is_read, name in is_written) for name in descriptors.messages]
    types += [write_enum(name, *enum) for name, enum in descriptors.enums.items()]
    with open(out_file, "w", encoding="utf-8") as file:
        file.write(FILE.replace("TYPES", "".join(types)))


if __name__ == "__main__":
    main(*sys.argv[1:])
