"""The errors that a person can act on, as one tree.

HotwashError
├── UsageError            the command was called wrongly (exit 2)
│   └── UnknownName       it named a lesson, run, draft or file that there is not
├── SettingsError         config.yaml or a HOTWASH_* variable cannot be used
├── StoreError            the store cannot be read or written
│   ├── ChangedUnderneath a file changed since it was read
│   └── StoreLocked       another writer holds the store
├── UndoRefused           a run cannot be reversed as things stand
└── ModelError            a model's call failed, was refused by the budget, or answered outside its schema
"""

from __future__ import annotations


class HotwashError(Exception):
    """A known failure: its text says what, where, and what to do next."""

    exit_code = 1


class UsageError(HotwashError):
    """The command was called wrongly."""

    exit_code = 2


class UnknownName(UsageError):
    """What the command named is not there; the text says what is."""


class SettingsError(HotwashError):
    """A setting has a value that cannot be used."""


class StoreError(HotwashError):
    """The store cannot be read or written."""


class ChangedUnderneath(StoreError):
    """A file is not what it was when the plan was made."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: changed since it was read; it was left as it is. Run the command again.")
        self.path = path


class StoreLocked(StoreError):
    """Another process is writing to the store."""

    def __init__(self, root: str, seconds: float) -> None:
        super().__init__(
            f"{root}: another hotwash is writing here and did not finish within {seconds:g} s. Try again later."
        )


class UndoRefused(HotwashError):
    """A run cannot be reversed as things stand."""


class ModelError(HotwashError):
    """A model's call failed, was refused by the budget, or answered outside its schema."""
