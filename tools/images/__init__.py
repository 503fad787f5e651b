"""Images for models: found in files, pages and variables, made small, and described in words."""
