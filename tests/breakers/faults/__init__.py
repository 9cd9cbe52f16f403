"""Fault injection: ``python -m tests.breakers.faults run`` from the repository; tests/breakers has a short one.

Each fault is a function in the table of `tests.breakers.faults.__main__`. It tries one thing in a process of its own,
which is killed, starved, filled up or interrupted, and checks what is left. A try draws its random numbers from the
seed and its own number alone, so that a failing one can be repeated.
"""
