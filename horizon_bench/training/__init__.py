"""Training of the small model: SFT on expert traces, then RL. Importing a module of this package imports torch."""
