"""What the file tools share: paths, text, matching, patches, search, and who must be asked.

The tools themselves (``read_file``, ``write_file``, ``patch``, ``search_files``) are thin; each
rule about files stands here once. Nothing here starts a process on the way of an ordinary call.
"""
