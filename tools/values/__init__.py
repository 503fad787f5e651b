"""The user's values, looked at without running any code of theirs.

Of a value nothing is asked but what its type, if that is one we know, answers in bounded time; of
other objects the class and the raw attributes are read. No ``repr``, property, ``__len__`` or
``__getattr__`` of the user's is called.
"""
