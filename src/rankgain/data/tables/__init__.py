"""Tables that callers hold, read by column.

`Frame` chooses the columns and judges their values, whatever holds them: a `Reader` of pandas frames or mappings
(`frame`), of Arrow streams (`arrow`), of files (`files`), or of lists of mappings (`records`). `parts` cuts streams of
batches into whole queries.
"""
