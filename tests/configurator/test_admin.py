"""Plans in the admin: to look at and to open, never to change."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from configurator.models import Draft


@pytest.fixture
def draft(catalog: None) -> Draft:
    answers = {"use": {"use_case": "document_chat"}, "load-document-chat": {"people": "321"}}
    return Draft.objects.create(title="Town hall", answers=answers)


def test_a_plan_is_found_and_read(ada: User, client: Client, draft: Draft) -> None:
    client.force_login(ada)
    client.cookies.load({"django_language": "en"})
    listed = client.get("/admin/configurator/draft/", {"q": "hall"}).content.decode()
    assert "Town hall" in listed
    assert "Chat with documents" in listed
    page = client.get(f"/admin/configurator/draft/{draft.pk}/change/").content.decode()
    assert "321 people" in page.replace("\N{NARROW NO-BREAK SPACE}", " ")
    assert f"/plan/{draft.token}/" in page


def test_answers_are_the_customers(ada: User, client: Client, draft: Draft) -> None:
    client.force_login(ada)
    assert client.get("/admin/configurator/draft/add/").status_code == 403
    assert client.post(f"/admin/configurator/draft/{draft.pk}/change/", {"title": "x"}).status_code == 403
    draft.refresh_from_db()
    assert draft.title == "Town hall"
