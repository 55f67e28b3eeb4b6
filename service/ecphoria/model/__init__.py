"""Values the whole product speaks in: frozen, typed, free of I/O and of numpy."""
