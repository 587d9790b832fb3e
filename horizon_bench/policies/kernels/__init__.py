"""Compiled kernels of the small model: prefill, decoding, and a forward and backward pass for training.

A batch of a 90,000-weight model is too small for a tensor library: most of its time goes into starting operations and
into carrying intermediate results through the caches. Here a few boards at a time go through the whole model while they
fit into the second-level cache; the products are left to the linear-algebra library, all else is fused around them.
Nothing in here knows torch, tokens or environments: arrays in, arrays out, float32, one core.

Words: a *group* is one board, its *prefix* rows see each other; a *reply* follows the board, its *suffix* rows see the
prefix and the reply's own past. A *block* is a few groups that are computed together, prefix rows first.
"""
