"""One incident from one or more files: what happened, how bad, when, why, what to do, and what cannot be known."""
