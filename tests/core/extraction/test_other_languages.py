"""Cues are English: in another language words that look like them state nothing and do no harm."""

from typing import Final

import pytest

from pmem import Project
from pmem.core.extraction.facts import extract
from pmem.values.records import MemoryType, Message, Role
from tests.conftest import NOW
from tests.storage.in_memory import InMemory

SENTENCES: Final = {
    "de": (
        "Die Not ist groß, wenn der Server steht.",
        "Also, die Art der Ablage war so.",
        "Wir nahmen das Boot am Montag.",
        "Der Chef will, dass alle Links im Menü stehen.",
        "Man muss die Hand am Rand halten.",
        "Ich war gestern im Lager und habe die Listen geholt.",
        "Die Wand ist rot, das Bad ist alt.",
        "Am Rand steht: bitte mit Gift nicht spielen.",
        "Der Rat war gut, das Gift war fast leer.",
        "Wir mögen den Tag, an dem die Post kam.",
        "Die Firma hat den Fall fast gewonnen.",
        "Wer will, kann den Link im Brief finden.",
        "Das Problem war der Arm des Roboters.",
        "Ich bin im Mai in Rom gewesen.",
        "Er hat also das Hut-Logo im Kopf der Seite.",
    ),
    "es": (
        "Son las tres, no hay pan en la red.",
        "El actor come pan con once personas.",
        "No me digas que vas a ser tan real.",
        "We vamos a la mesa; me voy sin pan.",
        "La red fue mala, pero can y pan son reales.",
        "Mi mama usa red social, sin dinero.",
        "Quiero un plan general para dos años.",
        "La decision fue tomada por once.",
        "Soy alergico al gluten y vivo en Lima.",
        "Has de ser más claro, no más largo.",
    ),
    "fi": (
        "On se me, he on ne.",
        "Me use olemme tuo on hän.",
        "Me on he.",
    ),
    "fr": (
        "Comment on fait pour la suite?",
        "Le son est plus fort dans la chambre.",
        "On a plus de pain pour dire merci.",
        "Son chat habite dans la maison de la mer.",
        "Nous voulons plus de tables pour le personnel.",
        "Les actions de la table sont pour demain.",
        "Mon ami a pour but de rester ici.",
        "Il fut décidé de passer à la page deux.",
        "We sommes prêts pour le départ.",
        "Je suis content, le but est dans la poche.",
        "Si on use le pain, on a plus de place.",
        "Il a dit: non, pas si grave.",
        "Le chat dort, rien de plus.",
    ),
    "hu": (
        "A hat ember is itt van.",
        "Is a fog, a hat, meg a had.",
        "Most is ott van a szoba.",
    ),
    "it": (
        "Come use la camera fare il pane.",
        "Il pane fresco come data di consegna.",
        "Dove sono i dati, me lo dice lei.",
        "Due is non basta, ma le cose fare insieme.",
        "Ho mal di testa e sono allergico alle noci.",
    ),
    "nl": (
        "De man was in de war, maar we will die dag.",
        "We zijn in het dorp geweest.",
        "Die was is nu schoon.",
        "Ik war van de wind en we moeten door.",
        "We willen geen slot meer op de deur.",
        "Het is niet waar dat hier een bad is.",
        "We use bijna niets, we kopen alles.",
        "We are hier niet.",
    ),
    "pl": (
        "To jest on, a ten pan ma most.",
        "Pan ma do nas list, a my go nie use.",
        "Nie on, to ten brat, do domu.",
    ),
    "pt": (
        "O sol e a mesa for boa, use o pano.",
        "As actions do time são para hoje.",
        "Se for o caso, use a rede.",
    ),
    "ru": (
        "Мы решили оставить PostgreSQL для заказов.",
        "Меня зовут Анна, я живу в Туле.",
        "Не используй Redis, use Kafka нельзя.",
    ),
    "sv": (
        "Man bad om barn som var glad.",
        "Under den tid vi har, fast hand.",
    ),
    "tr": (
        "On iki adam can dostum der.",
        "Bu not dün verilen not ile on aynı.",
        "Her an on kez sor, ben de kalem alırım.",
        "Not: depoda on iki kutu var.",
        "Son karar: yedekler bodrumda kalacak.",
    ),
}
EVERY = pytest.mark.parametrize("text", [one for listed in SENTENCES.values() for one in listed])


@EVERY
@pytest.mark.parametrize("role", [Role.USER, Role.ASSISTANT])
def test_it_states_no_fact_and_no_decision(text: str, role: Role) -> None:
    assert not extract(Message(id="m-00000001", role=role, content=text, created_at=NOW))


@EVERY
def test_a_memory_of_it_is_a_plain_fact_that_waits_for_nothing_and_is_kept_as_it_is(
    text: str,
) -> None:
    added = Project("/nowhere", backend=InMemory(), actor="tester", now=NOW).add(text)
    assert (added.action, added.memory.content) == ("added", text)
    assert added.memory.type is MemoryType.FACT
    assert not added.lints
    assert not added.held
