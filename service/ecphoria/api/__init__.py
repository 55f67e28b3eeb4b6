"""The REST face: parse, authorise, call one service, answer."""
