"""Items: JSON objects by namespace and key, with search."""
