"""The reports: one file each, found by looking into this folder."""
