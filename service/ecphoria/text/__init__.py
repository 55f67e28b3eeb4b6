"""Rules for English and German text: words, names, dates, passages."""
