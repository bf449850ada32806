"""What `add` tells of a text that says what another one does in other forms of its words."""

from typing import Final

import pytest

from pmem import Project
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

FORMS: Final = [
    ("Záloha je uložena v Brně", "Zálohy jsou uloženy v Brně"),
    ("Die Rechnung wird nie gelöscht", "Rechnungen werden nie gelöscht"),
    ("La factura nunca se borra", "Las facturas nunca se borran"),
    ("Laskua ei koskaan poisteta", "Laskuja ei koskaan poisteta"),
    ("La facture n'est jamais supprimée", "Les factures ne sont jamais supprimées"),
    ("A számlát soha nem töröljük", "A számlákat soha nem töröljük"),
    ("La fattura non è mai cancellata", "Le fatture non sono mai cancellate"),
    ("De sleutel ligt in de kluis", "De sleutels liggen in de kluis"),
    ("Faktura nigdy nie jest usuwana", "Faktury nigdy nie są usuwane"),
    ("Счёт никогда не удаляется", "Счета никогда не удаляются"),
    ("Fatura asla silinmez", "Faturalar asla silinmez"),
]
OTHERS: Final = [
    ("Faktura se nikdy nemaže", "Faktury se posílají každý týden"),
    ("Die Rechnung wird nie gelöscht", "Rechnungen werden jede Woche verschickt"),
    ("Die Rechnung bleibt 10 Jahre im Archiv", "Rechnungen bleiben 5 Jahre im Archiv"),
    ("La factura nunca se borra", "Las facturas se envían cada lunes"),
    ("Laskua ei koskaan poisteta", "Laskut lähetetään joka viikko"),
    ("La facture est supprimée lundi", "Les factures sont envoyées mardi"),
    ("Le serveur est sur AWS", "Les serveurs sont sur GCP"),
    ("A mentés Egerben van", "A mentések Pécsen vannak"),
    ("De factuur wordt nooit verwijderd", "Facturen worden elke week verstuurd"),
    ("Faktura nigdy nie jest usuwana", "Faktury są wysyłane w każdy piątek"),
    ("Счёт никогда не удаляется", "Счета отправляются каждую неделю"),
    ("Сервер стоит в Туле", "Серверы стоят в Омске"),
    ("Fatura asla silinmez", "Faturalar her hafta gönderilir"),
]


def told(one: str, other: str) -> list[str]:
    """Return the types of the links that the second text gets as it is added."""
    project = Project("/nowhere", backend=InMemory(), actor="tester", now=NOW)
    first = project.add(one).memory
    added = project.add(other)
    assert first.id != added.memory.id
    return [neighbour.link.type for neighbour in added.neighbours]


@pytest.mark.parametrize(("one", "other"), FORMS)
def test_what_differs_in_forms_only_is_told_as_near(one: str, other: str) -> None:
    assert told(one, other)
    assert told(other, one)


@pytest.mark.parametrize(("one", "other"), OTHERS)
def test_what_says_something_else_of_it_is_not(one: str, other: str) -> None:
    assert not told(one, other)
    assert not told(other, one)
