"""In any language two texts that differ in "not" are never the same; in forms of words, near."""

from typing import Final

import pytest

from pmem.core.duplicates.comparing import Relation, compare
from pmem.core.duplicates.reading import claim_of

DENIED: Final = {
    "ar": ("تحذف الفواتير", "لا تحذف الفواتير"),
    "cs": ("Faktury se mažou", "Faktury se nemažou"),
    "de": ("Rechnungen werden gelöscht", "Rechnungen werden nicht gelöscht"),
    "el": ("Τα τιμολόγια διαγράφονται", "Τα τιμολόγια δεν διαγράφονται"),
    "es": ("Las facturas se borran", "Las facturas no se borran"),
    "fi": ("Laskut poistetaan", "Laskuja ei poisteta"),
    "fr": ("Les factures sont supprimées", "Les factures ne sont pas supprimées"),
    "he": ("חשבוניות נמחקות", "חשבוניות לא נמחקות"),
    "hi": ("चालान हटाए जाते हैं", "चालान हटाए नहीं जाते हैं"),
    "hu": ("A számlákat töröljük", "A számlákat nem töröljük"),
    "it": ("Le fatture vengono cancellate", "Le fatture non vengono cancellate"),
    "ja": ("請求書は削除する", "請求書は削除しない"),
    "ko": ("청구서를 삭제한다", "청구서를 삭제하지 않는다"),
    "nl": ("De facturen worden verwijderd", "De facturen worden niet verwijderd"),
    "pl": ("Faktury są usuwane", "Faktury nie są usuwane"),
    "ro": ("Facturile se șterg", "Facturile nu se șterg"),
    "ru": ("Счета удаляются", "Счета не удаляются"),
    "th": ("ลบใบแจ้งหนี้", "ไม่ลบใบแจ้งหนี้"),
    "tr": ("Faturalar silinir", "Faturalar silinmez"),
    "vi": ("Hóa đơn được xóa", "Hóa đơn không được xóa"),
    "zh": ("发票会删除", "发票不会删除"),
}
FORMS: Final = {
    "cs": ("Fakturu uchováváme deset let v archivu", "Faktury uchováváme deset let v archivu"),
    "de": ("Die Rechnung bleibt im Archiv", "Die Rechnungen bleiben im Archiv"),
    "fi": ("Lasku säilytetään arkistossa kymmenen vuotta", "Laskut säilytetään arkistossa"),
    "fr": ("La facture est gardée aux archives", "Les factures sont gardées aux archives"),
    "he": ("את החשבונית שומרים עשר שנים בארכיון", "את החשבוניות שומרים עשר שנים בארכיון"),
    "hu": ("A számlát tíz évig őrizzük", "A számlákat tíz évig őrizzük"),
    "nl": ("Een factuur bewaren we tien jaar", "Facturen bewaren we tien jaar"),
    "pl": ("Fakturę przechowujemy w archiwum", "Faktury przechowujemy w archiwum"),
    "ru": ("Счёт храним десять лет в архиве", "Счета храним десять лет в архиве"),
    "tr": ("Faturayı arşivde on yıl saklıyoruz", "Faturaları arşivde on yıl saklıyoruz"),
}


@pytest.mark.parametrize("language", sorted(DENIED))
def test_what_is_denied_is_never_the_same(language: str) -> None:
    one, other = map(claim_of, DENIED[language])
    assert compare(one, other).relation is not Relation.DUPLICATE


@pytest.mark.parametrize("language", sorted(FORMS))
def test_what_differs_in_a_form_is_near(language: str) -> None:
    one, other = map(claim_of, FORMS[language])
    assert compare(one, other).relation is not Relation.DISTINCT
