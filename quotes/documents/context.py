"""What the document's templates get: the same arrangement as the proposal page, for paper."""

from typing import Any

from quotes.document_data import IssuedDocument
from quotes.presentation import proposal_page


def document_context(document: IssuedDocument) -> dict[str, Any]:
    """Template context of one document. Call it in the document's language."""
    return {"document": document, **proposal_page(document.proposal)}
