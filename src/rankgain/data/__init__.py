"""The caller's data as buffers; sources, rules and judgments.

Sources, as the engine reads them, a file per form: `lists` of grades, `dicts`, `columns`, `lines` of TREC files. Their
base is `source`, or `judgments` where documents have ids; `rules` say how documents are ordered.

What sources are made from: `arrays`, `ragged` lists of numbers, columns of `ids`, `id_lists` of users, `groups` (the
rows of each query), `dataframes`, `arrow` and `files`. `forms` tells them apart, and `writing` is for output.
"""
