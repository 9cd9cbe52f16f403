"""A plugin of pytest for machines that are slow: every n-th test, as the environment variable MUSE_TEST_EVERY says."""

import os


def pytest_collection_modifyitems(config, items):
    """Leave the others out."""
    step = int(os.environ.get("MUSE_TEST_EVERY", "1"))
    config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % step])
    items[:] = items[::step]
