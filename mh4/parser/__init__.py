"""The parser: settings, vocabulary, systems, the network, and parsing."""
