"""Which sense a context means: selection, tagging, uses of words."""
