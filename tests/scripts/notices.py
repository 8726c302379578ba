"""Prints the licences of everything that a program is built upon, from the JSON of cargo metadata on stdin.

Each package: a line of name, version and licence, then the texts of its licence files. Texts that are the same are printed once.
"""

import json
import pathlib
import sys

metadata = json.load(sys.stdin)
used = {node["id"]: node for node in metadata["resolve"]["nodes"]}
# What is linked: from the root along normal dependencies.
linked, pending = set(), [metadata["resolve"]["root"]]
while pending:
    node = used[pending.pop()]
    for dependency in node["deps"]:
        is_normal = any(kind["kind"] is None for kind in dependency["dep_kinds"])
        if is_normal and dependency["pkg"] not in linked:
            linked.add(dependency["pkg"])
            pending.append(dependency["pkg"])
texts, missing = {}, []
for package in sorted((p for p in metadata["packages"] if p["id"] in linked), key=lambda p: (p["name"], p["version"])):
    title = f'{package["name"]} {package["version"]}: {package["license"] or package["license_file"]}'
    print(title)
    folder = pathlib.Path(package["manifest_path"]).parent
    files = sorted(f for f in folder.iterdir() if f.is_file() and f.name.upper().startswith(("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE")))
    if not files:
        missing.append(title)
    for file in files:
        texts.setdefault(file.read_text(encoding="utf-8", errors="replace").strip(), []).append(f'{package["name"]} ({file.name})')
for text, holders in texts.items():
    print(f'\n{"=" * 79}\n{", ".join(holders)}\n{"-" * 79}\n{text}')
if missing:
    print(f'\n{"=" * 79}\nWithout a licence file of their own:\n' + "\n".join(missing))
