"""How agents are called by those who make them."""

_NAMES = {"atomic": "Atomic", "openclaw": "OpenClaw", "pilotdeck": "PilotDeck"}


def display(agent: str) -> str:
    """Give an agent's name as its makers write it."""
    return _NAMES.get(agent, agent)
