"""A policy held against a record: decisions, conformance, counterfactuals, summary budgets."""
