"""What `add` tells of a text that says what another one does in other forms of its words."""

from collections.abc import Mapping, Sequence
from typing import Final

import pytest

from pmem import Project
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

FORMS: Final = {
    "cs": (
        ("Faktura se nikdy nemaže", "Faktury se nikdy nemažou"),
        ("Záloha je uložena v Brně", "Zálohy jsou uloženy v Brně"),
        ("Server běží v suchém sklepě", "Servery běží v suchém sklepě"),
    ),
    "de": (
        ("Die Rechnung wird nie gelöscht", "Rechnungen werden nie gelöscht"),
        ("Die Sicherung liegt im Keller in Kiel", "Die Sicherungen liegen im Keller in Kiel"),
        ("Der Kunde ist immer willkommen", "Kunden sind immer willkommen"),
    ),
    "es": (
        ("La factura nunca se borra", "Las facturas nunca se borran"),
        ("La copia es guardada en el sótano", "Las copias son guardadas en el sótano"),
        ("El servidor está en la sala fría", "Los servidores están en la sala fría"),
    ),
    "fi": (
        ("Laskua ei koskaan poisteta", "Laskuja ei koskaan poisteta"),
        ("Varmuuskopio on kellarissa Turussa", "Varmuuskopiot ovat kellarissa Turussa"),
        ("Palvelin sijaitsee kylmässä huoneessa", "Palvelimet sijaitsevat kylmässä huoneessa"),
    ),
    "fr": (
        ("La facture n'est jamais supprimée", "Les factures ne sont jamais supprimées"),
        ("La sauvegarde est gardée à la cave", "Les sauvegardes sont gardées à la cave"),
        ("Le serveur tourne dans la salle froide", "Les serveurs tournent dans la salle froide"),
    ),
    "hu": (
        ("A számlát soha nem töröljük", "A számlákat soha nem töröljük"),
        ("A mentés a pincében van Egerben", "A mentések a pincében vannak Egerben"),
        ("A kiszolgáló a hideg szobában áll", "A kiszolgálók a hideg szobában állnak"),
    ),
    "it": (
        ("La fattura non è mai cancellata", "Le fatture non sono mai cancellate"),
        ("La copia è tenuta in cantina", "Le copie sono tenute in cantina"),
        ("Il server gira nella sala fredda", "I server girano nella sala fredda"),
    ),
    "nl": (
        ("De factuur wordt nooit verwijderd", "Facturen worden nooit verwijderd"),
        ("De sleutel ligt in de kluis", "De sleutels liggen in de kluis"),
        ("De klant is altijd welkom in Gent", "Klanten zijn altijd welkom in Gent"),
    ),
    "pl": (
        ("Faktura nigdy nie jest usuwana", "Faktury nigdy nie są usuwane"),
        ("Kopia leży w piwnicy w Gdańsku", "Kopie leżą w piwnicy w Gdańsku"),
        ("Serwer stoi w zimnej sali", "Serwery stoją w zimnej sali"),
    ),
    "ru": (
        ("Счёт никогда не удаляется", "Счета никогда не удаляются"),
        ("Копия хранится в подвале", "Копии хранятся в подвале"),
        ("Сервер стоит в холодном зале", "Серверы стоят в холодном зале"),
    ),
    "tr": (
        ("Fatura asla silinmez", "Faturalar asla silinmez"),
        ("Yedek bodrumda tutulur", "Yedekler bodrumda tutulur"),
        ("Sunucu soğuk odada duruyor", "Sunucular soğuk odada duruyorlar"),
    ),
}
OTHERS: Final = {
    "cs": (("Faktura se nikdy nemaže", "Faktury se posílají každý týden"),),
    "de": (
        ("Die Rechnung wird nie gelöscht", "Rechnungen werden jede Woche verschickt"),
        ("Die Rechnung bleibt 10 Jahre im Archiv", "Rechnungen bleiben 5 Jahre im Archiv"),
        ("Die Rechnung bleibt zehn Jahre im Archiv", "Rechnungen bleiben fünf Jahre im Archiv"),
        ("Anna prüft die Rechnung", "Otto prüft die Rechnungen"),
        ("Die Sicherung liegt in Kiel", "Die Sicherungen liegen in Köln"),
    ),
    "es": (
        ("La factura nunca se borra", "Las facturas se envían cada lunes"),
        ("La copia está en Madrid", "Las copias están en Sevilla"),
        ("Ana aprueba la factura", "Luis aprueba las facturas"),
    ),
    "fi": (
        ("Laskua ei koskaan poisteta", "Laskut lähetetään joka viikko"),
        ("Varmuuskopio on Turussa", "Varmuuskopiot ovat Oulussa"),
    ),
    "fr": (
        ("La facture est supprimée lundi", "Les factures sont envoyées mardi"),
        ("Le serveur est sur AWS", "Les serveurs sont sur GCP"),
        ("La facture est pour Max", "Les factures sont pour Léa"),
        ("La sauvegarde reste dix ans à la cave", "Les sauvegardes restent cinq ans à la cave"),
        ("Le serveur tourne à Lyon", "Les serveurs tournent à Paris"),
    ),
    "hu": (("A mentés Egerben van", "A mentések Pécsen vannak"),),
    "nl": (
        ("De factuur wordt nooit verwijderd", "Facturen worden elke week verstuurd"),
        ("De factuur blijft tien jaar bewaard", "Facturen blijven vijf jaar bewaard"),
        ("Jan keurt de factuur goed", "Piet keurt de facturen goed"),
    ),
    "pl": (
        ("Faktura nigdy nie jest usuwana", "Faktury są wysyłane w każdy piątek"),
        ("Kopia leży w Gdańsku", "Kopie leżą w Krakowie"),
    ),
    "ru": (
        ("Счёт никогда не удаляется", "Счета отправляются каждую неделю"),
        ("Сервер стоит в Туле", "Серверы стоят в Омске"),
        ("Копия хранится десять лет", "Копии хранятся пять лет"),
    ),
    "tr": (
        ("Fatura asla silinmez", "Faturalar her hafta gönderilir"),
        ("Yedek Ankara'da tutulur", "Yedekler İzmir'de tutulur"),
    ),
}
DENIED: Final = {
    "cs": ("Faktura se maže v pátek", "Faktury se v pátek nemažou"),
    "de": ("Die Rechnung wird gelöscht", "Rechnungen werden nicht gelöscht"),
    "es": ("La factura se borra", "Las facturas no se borran"),
    "fi": ("Lasku poistetaan", "Laskuja ei poisteta"),
    "fr": ("La facture est supprimée", "Les factures ne sont pas supprimées"),
    "he": ("החשבונית נמחקת", "החשבוניות לא נמחקות"),
    "hi": ("चालान हटाया जाता है", "चालान हटाए नहीं जाते हैं"),
    "hu": ("A számlát töröljük", "A számlákat nem töröljük"),
    "it": ("La fattura viene cancellata", "Le fatture non vengono cancellate"),
    "nl": ("De factuur wordt verwijderd", "Facturen worden niet verwijderd"),
    "pl": ("Faktura jest usuwana", "Faktury nie są usuwane"),
    "pt": ("A fatura é apagada", "As faturas não são apagadas"),
    "ru": ("Счёт удаляется", "Счета не удаляются"),
    "sv": ("Fakturan tas bort", "Fakturorna tas inte bort"),
    "tr": ("Fatura silinir", "Faturalar silinmez"),
}


def flat(pairs: Mapping[str, Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    return [pair for listed in pairs.values() for pair in listed]


def told(one: str, other: str) -> list[str]:
    """Return the types of the links that the second text gets as it is added."""
    project = Project("/nowhere", backend=InMemory(), actor="tester", now=NOW)
    first = project.add(one).memory
    added = project.add(other)
    assert first.id != added.memory.id
    return [neighbour.link.type for neighbour in added.neighbours]


@pytest.mark.parametrize(("one", "other"), flat(FORMS))
def test_what_differs_in_forms_only_is_told_as_near(one: str, other: str) -> None:
    assert told(one, other)
    assert told(other, one)


@pytest.mark.parametrize(("one", "other"), flat(OTHERS))
def test_what_says_something_else_of_it_is_not(one: str, other: str) -> None:
    assert not told(one, other)
    assert not told(other, one)


@pytest.mark.parametrize(("one", "other"), DENIED.values(), ids=list(DENIED))
def test_what_is_denied_is_never_told_as_the_same(one: str, other: str) -> None:
    assert "related_to" not in told(one, other)
    assert "related_to" not in told(other, one)
