"""The package `llm` as the model, for those who keep their keys and models there."""

from typing import Any, Final

from pmem.model.models import Completion, ModelUnreachable
from pmem.model.prompts import ModelPrompt
from pmem.model.waiting import in_time

INSTALL: Final = "pip install 'pmem-cli[llm]'"


def is_installed() -> bool:
    """Tell whether the package is there, without loading it."""
    from importlib.util import find_spec

    return find_spec("llm") is not None


class LlmModel:
    """A model that the package `llm` knows.

    Args:
        name: Its name there; its default model where it is empty.
    """

    def __init__(self, name: str) -> None:
        self._wanted = name
        self.name = name or "llm"

    def complete(self, prompt: ModelPrompt, seconds: float) -> Completion:
        """Return what the model writes; see `TextModel`."""
        return in_time(lambda: self._complete(prompt), seconds, self.name)

    def _complete(self, prompt: ModelPrompt) -> Completion:
        import llm

        try:
            model: Any = llm.get_model(self._wanted or None)
        except llm.UnknownModelError:
            raise ModelUnreachable(f"llm knows no model {self._wanted!r}") from None
        fitting = {"schema": prompt.schema} if getattr(model, "supports_schema", False) else {}
        response = model.prompt(prompt.text, stream=False, **fitting)
        text = str(response.text())
        used = response.usage()
        counts = [getattr(used, name, None) for name in ("input", "output")]
        numbers = [count for count in counts if isinstance(count, int)]
        return Completion(text=text, tokens=sum(numbers) if numbers else None)
