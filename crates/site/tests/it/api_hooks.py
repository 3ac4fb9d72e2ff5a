"""Names of runs and lines that are there, for three of four requests that ask for one."""

import os
import zlib

import schemathesis

IDS = os.environ["KNOWN_IDS"].split()
KNOWN = {"id": IDS[::2], "slug": os.environ["KNOWN_SLUGS"].split(), "revision": ["1"]}


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    # What is withdrawn is there for no other operation.
    known = KNOWN | {"id": IDS[1::2]} if context.operation.method == "delete" else KNOWN
    for name, value in (path_parameters or {}).items():
        number = zlib.crc32(repr(value).encode())
        if name in known and number % 4 != 0:
            path_parameters[name] = known[name][number // 4 % len(known[name])]
    return path_parameters
