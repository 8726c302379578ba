"""Prints what `sinew bench --device gpu --suite --json` measured as tables (Markdown). No packages.

    python3 card_table.py card.jsonl
"""
import json
import sys


def rows(path):
    read = []
    for number, line in enumerate(open(path), 1):
        try:
            read.append(json.loads(line))
        except ValueError:
            # The suite was cut off in the middle of a line.
            print(f"line {number} is no JSON: {line[:60]!r}")
    return read


def table(title, heads, cells):
    if not cells:
        return
    widths = [max(len(row[k]) for row in [heads, *cells]) for k in range(len(heads))]
    print(f"\n{title}\n")
    for row in [heads, ["-" * width for width in widths], *cells]:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")


def number(value, digits=3):
    return "–" if value is None else f"{value:.{digits}f}"


def megabytes(value, digits=1):
    return number(value / 1e6, digits)


def stages(row):
    of = row.get("stages_ms") or {}
    return [number(of.get(name)) for name in ["anchors_ms", "local_ms", "global_ms", "step_ms", "surface_ms", "total_ms"]]


STAGES = ["base", "local", "global", "step", "surface", "all ms"]


def agreement(row):
    solver = row["solver"] or ""
    crowd = f"crowd of {row['crowd']}" if row["crowd"] else ""
    contacts = str(row["contacts_most"]) if row["contacts"] else "off"
    return [row["character"], row["method"], solver or crowd, contacts, f"{row['first']['of_size']:.1e}", f"{row['worst']['of_size']:.1e}",
            number(row["worst"]["metres"] * 1e3, 4), str(row["frames"]), "ok" if row["passes"] else "FAILED"]


def flesh(row):
    rates = row["rates"] or {}
    part = rates.get("of_copies")
    return [row["size"], str(row["character"]["simulated_vertices"]), "accelerated" if row["acceleration"] else "plain",
            row["solver"] + ("*" if row["chosen"] else ""), number(row["contacts_mean"], 0) if row["contacts"] else "off",
            number(row["frames_per_s"], 1), number(row["frame_ms"]), number(row["host_ms"]),
            number(row["detection_ms"], 2) if row["contacts"] else "–", *stages(row), str(row["passes_step"]),
            megabytes(sum(row["bytes_step"].values())), number(rates.get("step_gb_s"), 0),
            "–" if part is None else f"{part * 100:.0f} %", megabytes(row["model"]["solver_bytes"]), megabytes(row["model"]["state_bytes"]),
            number((row["skin_ms"] + row["bind_ms"]) / 1e3, 1), number(row["model_ms"] / 1e3, 2)]


def crowd(row):
    return [row["size"], str(row["crowd"]["instances"]), number(row["frames_per_s"], 1), number(row["frame_ms"]), number(row["processor_ms"]),
            *stages(row), str(row["crowd"]["passes_step"]), megabytes(row["state_bytes"]), number(row["settle_ms"] / 1e3, 1), str(row["recovered"])]


def surface(row):
    return [row["method"], str(row["vertices"]), number(row["frames_per_s"], 1), number(row["frame_ms"]), number(row["host_ms"]),
            number(row["device_ms"], 4), str(row["passes"]), megabytes(row["constant_bytes"])]


TABLES = [
    ("agreement", "Agreement with the CPU (parts of the size)",
     ["character", "method", "", "contacts", "one step", "worst", "worst mm", "frames", ""], agreement),
    ("flesh", "Flesh, one step a frame (* the solver that the program chooses; bytes of gradients are at most)",
     ["size", "simulated", "way", "solver", "contacts", "frames/s", "frame ms", "host ms", "detect ms", *STAGES, "passes", "MB a step", "GB/s",
      "of copies", "solver MB", "state MB", "bind s", "model s"], flesh),
    ("crowd", "Crowds", ["size", "count", "frames/s", "frame ms", "CPU ms", *STAGES, "passes", "state MB", "settling s", "anew"], crowd),
    ("surface", "Methods that follow joints",
     ["method", "vertices", "frames/s", "frame ms", "host ms", "device ms", "passes", "constants MB"], surface),
]


def main():
    read = rows(sys.argv[1])
    good = [row for row in read if "error" not in row and "skipped" not in row]
    for row in good:
        if row["kind"] == "adapter":
            limits = row["limits"]
            print(f"{row['name']} ({row['device_type']}, {row['backend']}), {row['driver']} {row['driver_info']}; beside {row['cpu']}, "
                  f"{row['threads']} threads; sinew {row['version']}")
            print(f"timestamps {row['timestamps']} ({row['timestamp_period_ns']} ns), subgroups {row['subgroups']} {row['subgroup_sizes']}, f16 "
                  f"{row['shader_f16']}, bindings of {limits['max_storage_buffer_binding_size'] / 1e6:.0f} MB")
        elif row["kind"] == "bandwidth":
            print(f"copies: {row['gb_s']:.0f} GB/s read and written ({row['bytes'] / 1e6:.0f} MB, best {row['best_gb_s']:.0f})")
        elif row["kind"] == "note":
            print(f"note: {row['text']}")
    for kind, title, heads, cells in TABLES:
        table(title, heads, [cells(row) for row in good if row["kind"] == kind])
    print()
    for row in read:
        for why in ["error", "skipped"]:
            if why in row:
                print(f"{why}: {row['what']}: {row[why]}")
    ends = [row for row in good if row["kind"] == "end"]
    for end in ends:
        print(f"{end['measured']} measured, {end['failed']} failed, {end['left_out']} left out in {end['seconds']:.0f} s; "
              f"{end['memory_mb']:.0f} MB of memory at most")
    if not ends:
        print("the suite did not come to its end")
        sys.exit(1)


main()
