"""Words without their inflection: what is cut, what is not, and which forms tell of the past."""

import pytest

from pmem.core.duplicates.lexicon import is_past, is_simple_past, stem

FORMS = """
store stored storing stores|plan plans planned planning|test tested testing|copy copied copies
merge merged merging|change changed changing|ping pinged|create created creating|treat treated
update updated|edit edited|execute executed|promote promoted|require required|share shared
compare compared|configure configured|provide provided|load loaded|define defined|join joined
describe described|escape escaped|invoke invoked|schedule scheduled|compile compiled|fail failed
handle handled|toggle toggled|crawl crawled|parse parsed|pass passed passes|release released
reduce reduced|sync synced|queue queued|serve served|organize organized|fetch fetched fetches
cache cached caching caches|restore restored|refactor refactored|ignore ignored|explore explored
encode encoded|rename renamed|stream streamed|type typed|log logged logging|stop stopped
roll rolled rolling|install installed|add added|develop developed|target targeted|delete deleting
policy policies|match matches|box boxes|size sizes|database databases|process processes
write wrote written writing|build built|choose chose chosen|override overrode overridden
"""
GROUPS = [group.split() for group in FORMS.strip().replace("\n", "|").split("|")]


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group[0])
def test_all_forms_of_a_word_have_one_stem(group: list[str]) -> None:
    assert {stem(form) for form in group} == {stem(group[0])}


@pytest.mark.parametrize(
    "word",
    """string thing news redis windows meeting morning speed need red bus status analysis dns
    class hundred memcached always better left people""".split(),
)
def test_what_only_ends_like_a_form_stays_whole(word: str) -> None:
    assert stem(word) == word


@pytest.mark.parametrize("word", ["stored", "chose", "built", "agreed"])
def test_a_simple_past_needs_no_auxiliary(word: str) -> None:
    assert is_simple_past(word)
    assert is_past(word)


@pytest.mark.parametrize("word", ["chosen", "written", "run", "read", "overridden"])
def test_a_participle_may_be_past_and_is_none_alone(word: str) -> None:
    assert is_past(word)
    assert not is_simple_past(word)


@pytest.mark.parametrize("word", ["store", "need", "speed", "memcached", "hundred", "children"])
def test_other_words_tell_of_no_past(word: str) -> None:
    assert not is_past(word)
