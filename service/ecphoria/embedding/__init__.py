"""Texts to unit vectors: one adapter a provider, chosen by options."""

from ecphoria.embedding.cache import CachingEmbedder
from ecphoria.embedding.factory import EmbedderOptions, Provider, create_embedder

__all__ = ["CachingEmbedder", "EmbedderOptions", "Provider", "create_embedder"]
