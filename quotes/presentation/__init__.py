"""What pages and documents show, arranged for their readers; every figure comes from the proposal.

Call everything here in the reader's language: what it returns is text.
"""

from quotes.presentation.proposal import proposal_page

__all__ = ["proposal_page"]
