"""The command line: typer commands on the Python client, drawn with rich."""
