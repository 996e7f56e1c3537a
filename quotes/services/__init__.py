"""What happens to proposals and quotes. Each function that writes is one transaction; each refusal is a sentence.

A proposal is computed, cached by everything it depends on, and never stored. A quote keeps the proposal it was made
from; issuing freezes everything that is on paper.
"""

from quotes.services.costs import change_costs, seller_sources
from quotes.services.drafting import create_quote, follow_language, lines_of, refresh_total, reprice
from quotes.services.events import record
from quotes.services.life import (
    accept,
    decline,
    expire_due,
    issue,
    later_revision,
    new_revision,
    obstacles,
    restore_link,
    revoke_link,
    withdraw,
)
from quotes.services.notices import Notice, mail_is_on, send_link, tell_customer, tell_seller
from quotes.services.paper import document_of, pdf_of, site_sheet_for, site_sheet_of, xlsx_of
from quotes.services.privacy import Erased, erase_contact, export_contact, purge
from quotes.services.proposals import current_assumptions, proposal_for, vat_rate
from quotes.services.refused import Refused, TooMany, Unreadable
from quotes.services.seller import current_seller

__all__ = [
    "Erased",
    "Notice",
    "Refused",
    "TooMany",
    "Unreadable",
    "accept",
    "change_costs",
    "create_quote",
    "current_assumptions",
    "current_seller",
    "decline",
    "document_of",
    "erase_contact",
    "expire_due",
    "export_contact",
    "follow_language",
    "issue",
    "later_revision",
    "lines_of",
    "mail_is_on",
    "new_revision",
    "obstacles",
    "pdf_of",
    "proposal_for",
    "purge",
    "record",
    "refresh_total",
    "reprice",
    "restore_link",
    "revoke_link",
    "seller_sources",
    "send_link",
    "site_sheet_for",
    "site_sheet_of",
    "tell_customer",
    "tell_seller",
    "vat_rate",
    "withdraw",
    "xlsx_of",
]
