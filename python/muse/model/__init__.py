"""`MUSE`: building, queries, cards, hygiene."""
