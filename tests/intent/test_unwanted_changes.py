"""Texts that are near a change and ask for none, and their neighbours that do ask for one."""

from __future__ import annotations

from collections.abc import Sequence

from bot.intent.decision import decide
from bot.intent.kinds import KINDS_ASKED_BACK, KINDS_THAT_START_JOBS, Kind, Place
from tests.intent.catalogue import MENTION, VOCABULARY

PLACES = (Place.CHANNEL, Place.DIRECT, Place.COMMAND, Place.PEOPLE)
FORBIDDEN = """
don't delete the pricing page
please do not remove the table on the limits page
never rename the quickstart page
please don't add a page on SSO
don't move the changelog yet
we shouldn't delete the FAQ
can you please not change the pricing page
no need to update the changelog
change nothing on the pricing page
please make no changes to the pricing page
no changes to the FAQ please
please avoid changing the pricing page
ändere nichts an der Preisseite
bitte keine Änderungen an der Preisseite
verander niets aan de prijspagina
bitte ändere die Preisseite nicht
ändere die Preisseite bitte nicht
bitte nicht die Preisseite ändern
bitte die FAQ nicht löschen
fass die Preisseite nicht an
verschiebe die Seite über Webhooks noch nicht
ne supprime pas la page des tarifs
n'ajoute pas de page sur le SSO
merci de ne pas modifier la page des prix
por favor no cambies la página de precios
no borres la página de precios
per favore non modificare la pagina dei prezzi
por favor não altere a página de preços
verander de prijspagina niet
wijzig de prijzenpagina alsjeblieft niet
料金ページを変更しないでください
请不要修改价格页面
""".strip().splitlines()
"""Negated requests."""
LEFT_UNCHANGED = """
leave the pricing page alone
please leave the pricing page as is
leave the limits table unchanged
keep the pricing page as it is
could you leave the FAQ alone
we want to leave the quickstart as it is
let's leave the pricing page the way it is
leave the webhooks page alone for now
thanks, but leave the page as it was
lass die Preisseite in Ruhe
lasst die Seite bitte, wie sie ist
laissez la page comme elle est
deja la página de precios como está
lascia la pagina dei prezzi così com'è
deixe a página de preços como está
laat de prijspagina zoals hij is
料金ページはそのままにしてください
""".strip().splitlines()
"""Requests to change nothing."""
WANTED = """
don't change the title, just add a table
don't touch the intro but rewrite the second section
don't just delete the table, replace it with a list
don't forget to add a table of limits
don't use the word "simply" on the quickstart page
let's not call it beta anymore, rename it to preview
make no changes to the intro but add a table
add a note that there are no changes to the API
avoid the word "simply" on the quickstart page
add a note: do not delete the key
add a warning that you should not change the key
remove the paragraph that says do not change the key
shorten the intro but don't touch the examples
leave the pricing page alone and update the FAQ
leave the intro as is but add a table
leave a note on the pricing page about taxes
leave a note that the key can stay as it is
leave out the second paragraph of the quickstart
rewrite the intro and leave the rest alone
add a note that you can leave the field as is
ändere den Titel nicht, aber ergänze eine Tabelle
bitte nicht nur den Titel ändern, auch den Text
ergänze einen Hinweis, dass der Export nicht funktioniert
füge eine Warnung hinzu: nicht in Produktion verwenden
lass die Einleitung so wie sie ist, aber ergänze eine Tabelle
ne change pas le titre, ajoute un tableau
supprime la phrase qui dit de ne pas modifier la clé
no cambies el título, añade una tabla
rimuovi la frase che dice di non modificare la chiave
não altere o título, adicione uma tabela
voeg toe dat gasten geen pagina's kunnen verwijderen
タイトルは変更しないで、表を追加してください
不要修改标题，请添加一个表格
""".strip().splitlines()
"""Changes with a negation, or with something to keep."""
POSSIBLE = """
Is it possible to restore a deleted page?
can we restore a page that we deleted yesterday?
is there a way to bring back a deleted section?
is it possible to revert a published page?
is it possible to rename a page I created?
is there a way to edit a page that was archived?
any way to restore some deleted pages?
""".strip().splitlines()
"""Questions whether the product can change what its users made or lost."""
ASKED_POLITELY = """
is it possible to restore the deleted page?
is it possible to add a page about audit logs?
is it possible to rename the quickstart page?
can we delete the old pricing page?
can we add a section on deleted pages?
can we remove a duplicated paragraph?
can we rename a section to "Deleted pages"?
can you document how to restore a deleted page?
can we add an FAQ entry on whether you can restore a page you deleted?
is it possible to add a published date to the page?
can we move an archived guide to the overview?
could we bring back the migration guide?
is it possible to move a paragraph I wrote to the FAQ page?
""".strip().splitlines()
"""Requests for changes in the words of such questions."""
DIGEST_TIMES = """
change the digest to 10am
can you set our weekly digest to Monday at 8?
set the digest for Friday
please move the digest to 14:30 Europe/Berlin
make the digest come at 10am
update the digest time
stelle den Digest auf 10 Uhr
kannst du den Digest auf Montag 9 Uhr legen
mets le résumé hebdomadaire à 10 h
cambia el resumen a las 10
zet de digest op 10 uur
""".strip().splitlines()
"""Requests for another time of the bot's digest."""
DIGEST_IN_DOCS = """
change the digest page to mention time zones
set the digest limit to 50 in the reference
update the digest section: it now comes on Mondays
update the digest example to 10 items
document that the digest comes at 10am
change the SHA digest in the install guide to the new one
ändere die Seite über den Digest
""".strip().splitlines()
"""Changes of the docs about a digest."""


def said(text: str, place: Place) -> Kind:
    """Return the meaning of a text, with a mention where it needs one."""
    command = "/docs-agent" if place is Place.COMMAND else ""
    mention = MENTION if place in (Place.CHANNEL, Place.PEOPLE) else ""
    return decide(
        f"{mention} {text}".strip(), place, VOCABULARY, mention=mention, command=command
    ).kind


def decided(texts: Sequence[str], places: Sequence[Place]) -> list[tuple[str, Place, Kind]]:
    """Return each text with its meaning at each place."""
    return [(text, place, said(text, place)) for text in texts for place in places]


def test_request_to_change_nothing_is_asked_about() -> None:
    asked = {*KINDS_ASKED_BACK, Kind.THREAD_UNCLEAR}
    cases = decided([*FORBIDDEN, *LEFT_UNCHANGED], PLACES)
    assert [case for case in cases if case[2] not in asked] == []


def test_change_beside_such_words_starts_a_job() -> None:
    cases = decided([*WANTED, *ASKED_POLITELY, *DIGEST_IN_DOCS], [*PLACES, Place.JOB])
    assert [case for case in cases if case[2] not in KINDS_THAT_START_JOBS] == []


def test_question_about_a_thing_with_a_past_is_about_the_product() -> None:
    cases = decided(POSSIBLE, PLACES)
    assert [case for case in cases if case[2] is not Kind.QUESTION] == []
    in_thread = decided(POSSIBLE, [Place.JOB])
    assert [case for case in in_thread if case[2] in KINDS_THAT_START_JOBS] == []


def test_time_of_the_digest_shows_the_subscriptions() -> None:
    cases = decided(DIGEST_TIMES, PLACES)
    assert [case for case in cases if case[2] is not Kind.OWN_WORD] == []


def test_number_for_a_digest_in_a_jobs_thread_goes_to_the_agent() -> None:
    texts = ["change the digest to 50", "set the digest to 10", "stelle den Digest auf 10"]
    cases = decided(texts, [Place.JOB])
    assert [case for case in cases if case[2] not in KINDS_THAT_START_JOBS] == []
