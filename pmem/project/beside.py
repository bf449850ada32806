"""What a workspace has beside its records: each part is opened when it is first asked for."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

from pmem.project.configuration import Configuration
from pmem.storage.git.tracked import foreign, must_be_own
from pmem.values.config import Settings

if TYPE_CHECKING:
    from pmem.project.masking import Mask
    from pmem.project.secret_gate import Gate
    from pmem.storage.git.sources import Sources
    from pmem.storage.local.access import AccessLog
    from pmem.storage.local.proposals import Proposals
    from pmem.storage.local.state import LocalState


class Beside(ABC):
    """The part of a workspace that opens what lies beside the records."""

    root: str
    read_only: bool
    environment: dict[str, str]
    notes: list[str]
    configuration: Configuration

    @property
    @abstractmethod
    def settings(self) -> Settings:
        """The settings in force."""

    @property
    def owns_local(self) -> bool:
        """Whether what is in `local` is this clone's own, and did not come with the project."""
        return not foreign(self.root, self.environment)

    @property
    def own_root(self) -> str:
        """The memory folder, for what this clone keeps for itself in it.

        Raises:
            Refused: Git tracks something there, so it came with the project.
        """
        must_be_own(self.root, self.environment)
        return self.root

    @cached_property
    def local(self) -> "LocalState":
        """What this clone keeps for itself: threads and checkpoints.

        Raises:
            Refused: See `own_root`.
        """
        from pmem.storage.local.state import LocalState

        return LocalState(self.own_root, read_only=self.read_only)

    @property
    def proposals(self) -> "Proposals":
        """What waits for a person's consent.

        Raises:
            Refused: See `own_root`.
        """
        from pmem.storage.local.proposals import Proposals

        return Proposals(self.own_root)

    @cached_property
    def access(self) -> "AccessLog":
        """The recalls that wait to be folded into the records."""
        from pmem.storage.local.access import AccessLog

        return AccessLog(self.root, read_only=self.read_only, is_own=self.owns_local)

    @cached_property
    def sources(self) -> "Sources":
        """The files of the project, which memories cite."""
        from pmem.storage.git.sources import Sources

        return Sources(self.root, self.environment)

    @cached_property
    def mask(self) -> "Mask":
        """Takes secrets out of what is shown."""
        from pmem.project.masking import Mask

        configuration = self.configuration
        return Mask(lambda: configuration.settings.secrets, self.notes)

    @cached_property
    def gate(self) -> "Gate":
        """Lets in what holds no secret."""
        from pmem.project.secret_gate import Gate

        configuration = self.configuration
        return Gate(lambda: configuration.settings.secrets, self.notes)
