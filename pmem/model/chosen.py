"""The model that a person has chosen in their own settings."""

import os
from collections.abc import Mapping, Sequence
from shutil import which

from pmem.errors import InvalidValue
from pmem.model.command import CommandModel
from pmem.model.models import Models, ModelUnreachable, TextModel
from pmem.model.presets import NEEDS_NAME, preset_command
from pmem.values.rules import ModelRules


def chosen_models(rules: ModelRules, environment: Mapping[str, str]) -> Models | None:
    """Return what the settings choose; None where that is nothing.

    Args:
        rules: The settings.
        environment: The environment's variables, one of which may hold a key.

    Raises:
        InvalidValue: The settings do not fit together.
    """
    if not rules.is_chosen:
        return None
    model = _text_model(rules, environment)
    return Models(model.name, model)


def _text_model(rules: ModelRules, environment: Mapping[str, str]) -> TextModel:
    if rules.command:
        name = rules.name or os.path.basename(rules.command[0])
        return _program(name, rules.command, rules, environment)
    if rules.url:
        return _server(rules, environment)
    if rules.use in NEEDS_NAME and not rules.name:
        raise InvalidValue(f"model.use is {rules.use}, and model.name says no model", _NAME_IT)
    if rules.use == "llm":
        from pmem.model.llm_program import INSTALL, LlmModel, is_installed

        if is_installed():
            return LlmModel(rules.name)
        if not which("llm", path=environment.get("PATH")):
            raise InvalidValue("model.use is llm, which is not installed", f"run `{INSTALL}`")
    command = preset_command(rules.use, rules.name)
    return _program(rules.name or rules.use, command, rules, environment)


def _program(
    name: str, command: Sequence[str], rules: ModelRules, environment: Mapping[str, str]
) -> TextModel:
    program = command[0]
    if os.path.dirname(program) and not os.path.isabs(program):  # it runs in an empty folder
        raise InvalidValue(
            f"model.command begins with {program!r}", "give the program's whole path"
        )
    if not which(program, path=environment.get("PATH")):
        setting = "model.command" if rules.command else "model.use"
        hint = f"install it, or change {setting} in your own config.toml"
        raise InvalidValue(f"there is no program {program!r}", hint)
    return CommandModel(name, command, environment, rules.key_variable)


_NAME_IT = "name it as its program or server does, such as llama3.2"


def _server(rules: ModelRules, environment: Mapping[str, str]) -> TextModel:
    from pmem.model.url import UrlModel

    if not rules.name:
        raise InvalidValue("model.url is set, and model.name says no model", _NAME_IT)
    key = environment.get(rules.key_variable, "") if rules.key_variable else ""
    if rules.key_variable and not key:
        raise InvalidValue(
            f"model.key_variable names {rules.key_variable}, which is not set",
            "export it, or unset model.key_variable where the server wants no key",
        )
    try:
        return UrlModel(rules.name, rules.url, key)
    except ModelUnreachable as error:
        raise InvalidValue(str(error), "`pmem config list` says where it was set") from None
