"""A plugin of pytest that keeps every n-th test of a file: TEST_PART=0/4 is the first of four parts. tools/run-tests sets it."""
import os


def pytest_collection_modifyitems(config, items):
    part, parts = map(int, os.environ["TEST_PART"].split("/"))
    config.hook.pytest_deselected(items=[item for i, item in enumerate(items) if i % parts != part])
    items[:] = items[part::parts]
