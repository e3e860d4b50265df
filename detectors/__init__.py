"""Read and point; never write, never call a model."""
