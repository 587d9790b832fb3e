"""Pages of the documentation that are made from the code: `python docs/make_pages.py` writes them all."""
