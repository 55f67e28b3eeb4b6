// doc: Show the version of the Graph Data Science plugin; fails without it.
// mode: read
// returns: version STRING
RETURN gds.version() AS version
