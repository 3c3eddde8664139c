"""Convert the caller's data to buffers; define sources, rules and judgments.

The engine reads sources. Each form of source has its module: `lists` of grades, `dicts`, `columns`, and `lines` of TREC
files. Their base class is in `source` or, for documents with ids, in `judgments`. `rules` say how documents are
ordered.

Sources are made from `arrays`, `ragged` lists of numbers, columns of `ids`, `id_lists` of users, `groups` (the rows of
each query), `tables` and `files`. `given` tells these forms apart, `advice` words warnings and hints, and `writing` is
for output.
"""
