"""The notebook around a turn: its cells, as far as the kernel or the file knows them."""
