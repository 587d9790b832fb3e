"""Records, statistics, collapse detection, figures and the page; computes from records alone, never from a run."""
