"""What a model can call. Each ``*_tool.py`` registers itself; see ``registry``."""
