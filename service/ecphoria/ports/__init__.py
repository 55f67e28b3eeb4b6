"""What the features need from the world, as protocols; adapters are built to fit them."""
