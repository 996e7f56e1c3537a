"""Kinds of parts of an address."""

from django.urls import register_converter


class TokenConverter:
    """The secret of a link. What cannot be one is no address of this site: it never reaches the database."""

    regex = "[A-Za-z0-9_-]{1,64}"

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


register_converter(TokenConverter, "token")
