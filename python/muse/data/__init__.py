"""What a model is: its settings, words, numbers and where its training stands."""
