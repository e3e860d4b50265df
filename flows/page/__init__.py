"""The report page: facts gathered, then written as HTML or, for an artifact, as markdown."""
