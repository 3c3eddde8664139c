"""Convert qrels and runs from nested dicts to columns and to lines of files."""


def rows(side):
    return [(query, document, number) for query, documents in side.items() for document, number in documents.items()]


def columns(side, query="query_id", doc="doc_id", value="relevance"):
    """Return a dict of three columns: queries, documents and numbers."""
    return {name: [row[part] for row in rows(side)] for part, name in enumerate((query, doc, value))}


def qrels_lines(qrels):
    return "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in rows(qrels)).encode()


def run_lines(run):
    return "".join(f"{query} Q0 {document} 0 {score!r} t\n" for query, document, score in rows(run)).encode()
