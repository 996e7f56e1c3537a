"""One module per outside format: each reads it into plain rows, plans what would change, and then changes it."""
