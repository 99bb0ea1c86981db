"""Scripts beside the product; run as ``python -m scripts.NAME``. They share no code with the planner, so that they can check it."""
