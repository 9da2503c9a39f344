"""Offline forensics of coding agents' recovery: read transcripts, detect failures, replay and prove policies."""

__version__ = "0.1.0"
