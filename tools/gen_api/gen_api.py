#!/usr/bin/env python3
"""Writes libsplit/api.inc: one row per function of OpenCL's core API, from the installed CL/cl.h.

usage: gen_api.py [/usr/include/CL/cl.h] > libsplit/api.inc

The result is committed. A row that no longer fits the header does not compile, since the header's own
prototypes are in scope where the rows are expanded.
"""
import re
import sys


def split_parameters(text):
    """Parameters of a prototype: split at commas outside of parentheses."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [" ".join(part.split()) for part in parts + [current]]


def argument_name(parameter):
    if parameter == "void":
        return ""
    callback = re.search(r"\(\s*CL_CALLBACK\s*\*\s*(\w+)\s*\)", parameter)
    return callback.group(1) if callback else re.search(r"(\w+)(\[\d*\])?$", parameter).group(1)


def main():
    header = open(sys.argv[1] if len(sys.argv) > 1 else "/usr/include/CL/cl.h").read()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    prototype = re.compile(
        r"extern\s+CL_API_ENTRY\s+(?:CL_API_PREFIX__VERSION_\w+\s+)?(.+?)\s*CL_API_CALL\s+(cl\w+)\s*"
        r"\((.*?)\)\s*CL_API_SUFFIX__VERSION_\w+\s*;", re.S)
    print("// OpenCL's core API: OPENCL_API(result, name, (parameters), (arguments)).")
    print("// Written by tools/gen_api/gen_api.py; do not edit.")
    for result, name, parameters in prototype.findall(header):
        parts = split_parameters(parameters)
        names = ", ".join(argument_name(part) for part in parts)
        print(f"OPENCL_API({' '.join(result.split())}, {name},\n           ({', '.join(parts)}),\n"
              f"           ({names}))")


main()
