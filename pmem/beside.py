"""What a workspace has beside its records: each part is opened when it is first asked for."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from pmem.config import Settings

if TYPE_CHECKING:
    from pmem.gate import Gate
    from pmem.masking import Mask
    from pmem.storage.access import AccessLog
    from pmem.storage.local import LocalState
    from pmem.storage.sources import Sources


class Beside(ABC):
    """The part of a workspace that opens what lies beside the records."""

    root: str
    read_only: bool
    environment: dict[str, str]
    notes: list[str]

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """The settings in force."""

    @cached_property
    def local(self) -> "LocalState":
        """What this clone keeps for itself: threads and checkpoints."""
        from pmem.storage.local import LocalState

        return LocalState(self.root, read_only=self.read_only)

    @cached_property
    def access(self) -> "AccessLog":
        """The recalls that wait to be folded into the records."""
        from pmem.storage.access import AccessLog

        return AccessLog(self.root, read_only=self.read_only)

    @cached_property
    def sources(self) -> "Sources":
        """The files of the project, which memories cite."""
        from pmem.storage.sources import Sources

        return Sources(self.root, self.environment)

    @cached_property
    def mask(self) -> "Mask":
        """Takes secrets out of what is shown."""
        from pmem.masking import Mask

        return Mask(lambda: self.settings.secrets, self.notes)

    @cached_property
    def gate(self) -> "Gate":
        """Lets in what holds no secret."""
        from pmem.gate import Gate

        return Gate(lambda: self.settings.secrets, self.notes)
