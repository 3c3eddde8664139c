"""README's table of metrics, made from that of `definitions`: `python tests/support/metric_table.py` prints it."""

from rankgain.metrics.table import TABLE


def cell(text):
    return text.replace("|", r"\|")


def page():
    rows = [("metric", "what it is", "formula", "other names", "source"), ("---",) * 5]
    for row in TABLE.values():
        name = f"`{row.name}`" + " `@k`" * row.cuts
        takes = ", ".join(f"`{parameter}`" for parameter in row.takes)
        about = row.title + (f" ({takes})" if takes else "")
        rows.append((name, about, row.formula, ", ".join(f"`{alias}`" for alias in row.aliases), row.source))
    return "\n".join("| " + " | ".join(map(cell, cells)) + " |" for cells in rows) + "\n"


if __name__ == "__main__":
    print(page(), end="")
