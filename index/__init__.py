"""The ground: the nouns, the files, and how to find them."""
