"""Training on several machines: a study of its accuracy, faults on purpose, and its speed."""
