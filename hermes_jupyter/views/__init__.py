"""Who shows events: live widgets, plain text, and the record that stays in the notebook."""
