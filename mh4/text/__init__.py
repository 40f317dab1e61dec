"""Raw text: segmenters find the sentences and words that parsers need."""
