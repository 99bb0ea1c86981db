"""Other people's solvers on the same problems."""
