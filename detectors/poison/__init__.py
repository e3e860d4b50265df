"""The poison scan: is a text that an agent would obey an attack on it? See `detectors.poison.scan`."""
