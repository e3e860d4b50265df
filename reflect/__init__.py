"""A session becomes solutions."""
