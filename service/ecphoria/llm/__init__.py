"""Language models behind an endpoint: the only place that knows providers of them."""
