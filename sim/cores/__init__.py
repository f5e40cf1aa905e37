"""The core beside its peers: the same programs, each core in the memory that suits it."""
