"""The words of the shop: what products are made of and what can be chosen. Every word belongs to one group only."""

from __future__ import annotations

CATEGORIES = (
    "apron",
    "backpack",
    "basket",
    "blanket",
    "bottle",
    "bowl",
    "chair",
    "clock",
    "curtain",
    "desk",
    "headset",
    "jacket",
    "kettle",
    "keyboard",
    "lamp",
    "mirror",
    "mug",
    "pillow",
    "rug",
    "scarf",
    "speaker",
    "stool",
    "tent",
    "towel",
    "tray",
    "vase",
)
BRANDS = (
    "albero",
    "belmont",
    "brisk",
    "cobalt",
    "cordova",
    "delmar",
    "dorset",
    "elvik",
    "fennel",
    "garnet",
    "halden",
    "ibsen",
    "jorvik",
    "kestrel",
    "lumen",
    "mistral",
    "nordal",
    "orchid",
    "pavone",
    "quill",
    "rowan",
    "solano",
    "tarn",
    "umbra",
    "velmo",
    "wexford",
    "xanto",
    "yarrow",
    "zephyr",
    "arbor",
)
MATERIALS = (
    "bamboo",
    "ceramic",
    "cotton",
    "glass",
    "leather",
    "steel",
    "wood",
    "wool",
)
FEATURES = (
    "adjustable",
    "foldable",
    "handmade",
    "insulated",
    "lightweight",
    "organic",
    "portable",
    "quiet",
    "rechargeable",
    "stackable",
    "washable",
    "waterproof",
)

GROUPS: dict[str, tuple[str, ...]] = {
    "brand": BRANDS,
    "material": MATERIALS,
    "feature": FEATURES,
    "category": CATEGORIES,
}
"""Groups of the words that the text index knows, in the order in which people say them."""

AXES: dict[str, tuple[str, ...]] = {
    "colour": ("red", "blue", "green", "black", "white"),
    "size": ("small", "medium", "large", "huge"),
    "pack": ("single", "twin", "bulk"),
    "finish": ("matt", "glossy", "plain"),
}
"""What can be chosen of a product, and the choices."""

PRICES = tuple(range(5, 85, 5))
"""Prices, in dollars."""

INDEX_WORDS: tuple[str, ...] = tuple(word for words in GROUPS.values() for word in words)
"""Every word a search may hold, in canonical order."""
WORD_ORDER: dict[str, int] = {word: number for number, word in enumerate(INDEX_WORDS)}
GROUP_OF: dict[str, str] = {word: group for group, words in GROUPS.items() for word in words}
AXIS_OF: dict[str, str] = {value: axis for axis, values in AXES.items() for value in values}
"""The axis of each choice."""
