"""One module an agent: raw log lines become sessions."""
