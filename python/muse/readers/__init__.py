"""Published evaluation files, read into plain records; no model is known here."""
