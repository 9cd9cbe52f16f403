"""From text to numbers: epochs, the split into senses, checkpoints."""
