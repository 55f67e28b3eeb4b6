"""Request and response bodies of the REST API, shared by the service and its clients."""
